"""The read path: plan → arms → rank → pack; explain; what changed; looking things up."""
