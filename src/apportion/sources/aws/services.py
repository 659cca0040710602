"""FOCUS service categories of AWS's product codes. What EC2 bills for disks and traffic is told by the product family, else by the usage type.

A code that is not here is `Other`: its money is found by its name.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

BETWEEN = "\x1f"
CATEGORIES = {
    "Compute": (
        "AmazonEC2", "AmazonECS", "AmazonEKS", "AmazonECR", "AWSLambda", "AWSBatch", "AmazonLightsail", "AWSOutposts", "AWSAppRunner",
        "AWSParallelComputingService",
    ),
    "AI and Machine Learning": (
        "AmazonSageMaker", "AmazonBedrock", "AmazonBedrockAgentCore", "AmazonRekognition", "comprehend", "translate", "transcribe",
        "AmazonPolly", "AmazonTextract", "AmazonLex", "AmazonPersonalize", "AmazonKendra", "AmazonQ",
    ),
    "Storage": (
        "AmazonS3", "AmazonS3GlacierDeepArchive", "AmazonGlacier", "AmazonEFS", "AmazonFSx", "AWSBackup", "AWSStorageGateway",
        "AWSDataSync", "AmazonFileCache",
    ),
    "Networking": (
        "AmazonVPC", "AWSELB", "AmazonCloudFront", "AmazonRoute53", "AWSDirectConnect", "AWSDataTransfer", "AmazonApiGateway", "AWSGlobalAccelerator",
        "AWSNetworkFirewall", "AWSTransitGateway",
    ),
    "Databases": (
        "AmazonRDS", "AmazonDynamoDB", "AmazonElastiCache", "AmazonRedshift", "AmazonDocDB", "AmazonNeptune", "AmazonTimestream", "AmazonMemoryDB",
    ),
    "Analytics": (
        "AWSGlue", "AmazonAthena", "AmazonKinesis", "AmazonKinesisFirehose", "ElasticMapReduce", "AmazonES", "AmazonMSK", "AmazonQuickSight",
        "AWSLakeFormation",
    ),
    "Integration": ("AWSQueueService", "AmazonSNS", "AmazonStates", "AWSEvents", "AmazonMQ", "AmazonMWAA", "AmazonAppFlow"),
    "Management and Governance": (
        "AmazonCloudWatch", "AWSCloudTrail", "AWSConfig", "AWSSystemsManager", "AWSSupportBasic", "AWSSupportDeveloper", "AWSSupportBusiness",
        "AWSSupportEnterprise", "OCBPremiumSupport", "AWSServiceCatalog", "AmazonGrafana", "AmazonPrometheus", "AWSCostExplorer",
    ),
    "Security": (
        "AmazonGuardDuty", "AWSSecurityHub", "AmazonInspector", "AmazonInspectorV2", "AmazonMacie", "awswaf", "AWSShield", "AWSSecretsManager",
        "awskms", "AWSCertificateManager",
    ),
    "Identity": ("AmazonCognito", "AWSDirectoryService"),
    "Developer Tools": ("CodeBuild", "AWSCodePipeline", "AWSCodeCommit", "AWSCodeArtifact", "AWSXRay", "AWSCloudShell"),
    "Internet of Things": ("AWSIoT",),
    "Migration": ("AWSMigrationHubRefactorSpaces", "AWSDatabaseMigrationSvc", "AWSTransfer"),
}  # fmt: skip
CODES = {code: category for category, codes in CATEGORIES.items() for code in codes}
FAMILIES = {
    "Storage": "Storage", "Storage Snapshot": "Storage", "System Operation": "Storage", "Provisioned Throughput": "Storage",
    "Data Transfer": "Networking", "NAT Gateway": "Networking", "Load Balancer": "Networking", "Load Balancer-Application": "Networking",
    "Load Balancer-Network": "Networking", "Load Balancer-Gateway": "Networking", "IP Address": "Networking",
}  # fmt: skip
DISKS = re.compile(r"(?:^|-)EBS:")
TRAFFIC = re.compile(r"DataTransfer|-Bytes$|NatGateway|LoadBalancerUsage|LCUUsage|PublicIPv4|ElasticIP")


def category(product: str, family: str, usage_type: str) -> str:
    if product != "AmazonEC2":
        return CODES.get(product, "Other")
    if family in FAMILIES:
        return FAMILIES[family]
    if DISKS.search(usage_type):
        return "Storage"
    return "Networking" if TRAFFIC.search(usage_type) else "Compute"


def categories(product: pa.Array, family: pa.Array, usage_type: pa.Array) -> pa.Array:
    """Over what is distinct only; the usage type matters for EC2 alone."""
    told = pc.if_else(pc.equal(product, "AmazonEC2"), usage_type, "")
    keys = pc.binary_join_element_wise(
        product, family, told, BETWEEN, null_handling="replace", null_replacement=""
    ).dictionary_encode()
    found = [category(*key.split(BETWEEN)) for key in keys.dictionary.to_pylist()]
    return pa.array(found, pa.string()).take(keys.indices)
