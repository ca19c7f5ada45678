"""What each task does with its data: made ready, encoded, batched, validated; one file a task over what they share."""
