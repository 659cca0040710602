"""MeterCategory, which is what users call the service, to FOCUS's service categories. The common ones; others by their family, or Other.

Categories follow Microsoft's own list (FinOps toolkit, Services.csv, MIT licence) where it has the service.
"""

FAMILIES = {
    "ai + machine learning": "AI and Machine Learning",
    "analytics": "Analytics",
    "containers": "Compute",
    "databases": "Databases",
    "developer tools": "Developer Tools",
    "integration": "Integration",
    "internet of things": "Internet of Things",
    "management and governance": "Management and Governance",
    "networking": "Networking",
    "security": "Security",
    "storage": "Storage",
    "web": "Web",
}  # `compute` is not here: files of an EA say it of everything
BELOW = {
    ("Compute", "Virtual Machines"): ("virtual machines", "virtual machines licenses", "dedicated host", "azure vmware solution"),
    ("Compute", "Containers"): ("azure kubernetes service", "container instances", "azure container apps", "container registry"),
    ("Compute", "Serverless Compute"): ("functions", "batch", "cloud services"),
    ("AI and Machine Learning", "Machine Learning"): ("azure machine learning", "machine learning studio"),
    ("AI and Machine Learning", "AI Platforms"): ("cognitive services", "azure ai services", "foundry models", "foundry tools"),
    ("AI and Machine Learning", "Generative AI"): ("azure openai", "azure openai service"),
    ("Storage", "Storage Platforms"): ("storage", "azure hpc cache"),
    ("Storage", "File Storage"): ("azure netapp files", "azure managed lustre"),
    ("Storage", "Backup Storage"): ("backup",),
    ("Networking", "Network Infrastructure"): ("virtual network", "network watcher", "bandwidth"),
    ("Networking", "Network Connectivity"): ("vpn gateway", "virtual wan", "nat gateway", "azure nat gateway", "virtual network private link"),
    ("Networking", "Network Routing"): ("expressroute", "azure dns"),
    ("Networking", "Application Networking"): ("load balancer", "application gateway", "traffic manager"),
    ("Networking", "Content Delivery"): ("content delivery network", "azure front door service", "azure front door"),
    ("Networking", "Network Security"): ("azure firewall", "azure bastion", "azure ddos protection"),
    ("Databases", "Relational Databases"): (
        "sql database", "sql managed instance", "azure database for mysql", "azure database for postgresql", "azure database for mariadb",
    ),
    ("Databases", "NoSQL Databases"): ("azure cosmos db",),
    ("Databases", "Caching"): ("redis cache", "azure managed redis"),
    ("Analytics", "Data Processing"): ("azure databricks", "hdinsight", "azure data lake analytics"),
    ("Analytics", "Analytics Platforms"): ("azure synapse analytics", "azure data explorer", "microsoft fabric"),
    ("Analytics", "Streaming Analytics"): ("stream analytics",),
    ("Analytics", "Search"): ("azure cognitive search", "azure ai search"),
    ("Integration", "Messaging"): ("event hubs", "service bus", "event grid", "notification hubs"),
    ("Integration", "API Management"): ("api management",),
    ("Integration", "Workflow Orchestration"): ("logic apps", "azure data factory", "azure data factory v2", "automation"),
    ("Management and Governance", "Observability"): ("azure monitor", "log analytics", "application insights", "insight and analytics"),
    ("Management and Governance", "Disaster Recovery"): ("azure site recovery",),
    ("Security", "Secret Management"): ("key vault",),
    ("Security", "Security Posture Management"): ("microsoft defender for cloud", "security center", "advanced data security"),
    ("Security", "Threat Detection and Response"): ("advanced threat protection", "sentinel", "microsoft sentinel"),
    ("Web", "Application Platforms"): ("azure app service", "azure spring apps", "azure spring cloud"),
    ("Developer Tools", "Developer Platforms"): ("azure devops", "github", "github enterprise cloud"),
    ("Internet of Things", "IoT Platforms"): ("iot hub", "iot central", "azure iot hub"),
}  # fmt: skip
SERVICES = {name: pair for pair, names in BELOW.items() for name in names}


def service_of(category: str, family: str) -> tuple[str, str | None]:
    """ServiceCategory and ServiceSubcategory."""
    known = SERVICES.get(category.casefold())
    return known or (FAMILIES.get(family.casefold(), "Other"), None)
