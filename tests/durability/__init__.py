"""Kills the embedded server again and again under load: nothing acknowledged is lost, nothing acts twice."""
