from frame_pr.evaluate import evaluate
