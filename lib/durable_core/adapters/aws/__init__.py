"""AWS: DynamoDB for what is kept, SQS and the Scheduler for what is sent and awaited.

Nothing is imported here, so that a function loads only the parts it needs.
"""
