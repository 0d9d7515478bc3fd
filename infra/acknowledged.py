"""Where a rule of cdk-nag is not followed, and why.

What does not live here: the checks (`tests/infra`); a deployment does not run them.
A newcomer's trap: a reason is for a reader who has to believe it. "Not needed" is none. And a wildcard is acknowledged
one resource at a time, so that a second one in the same policy is found.
"""

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """State why `rule` (its name, or its name with one finding in brackets) is not followed by this construct."""
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason))


def acknowledge_pattern(construct: IConstruct, service: str, resource: str, reason: str) -> None:
    """State why a policy of this construct names a pattern of resources of this deployment."""
    arn = f"arn:<AWS::Partition>:{service}:<AWS::Region>:<AWS::AccountId>:{resource}"
    acknowledge(_with_policy(construct), f"AwsSolutions-IAM5[Resource::{arn}]", reason)


def acknowledge_everything(construct: IConstruct, reason: str) -> None:
    """State why a policy of this construct names every resource: some actions know no others."""
    acknowledge(_with_policy(construct), "AwsSolutions-IAM5[Resource::*]", reason)


def _with_policy(construct: IConstruct) -> IConstruct:
    """A function's permissions are its role's."""
    if isinstance(construct, lambda_.Function) and construct.role is not None:
        return construct.role
    return construct
