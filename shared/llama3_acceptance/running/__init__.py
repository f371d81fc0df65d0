"""What a model is asked, its responses as they are recorded, and a run of them judged."""
