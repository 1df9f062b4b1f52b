-- The whole schema, as of the first release. schema.prisma can't express some of it: collations of columns, checks, an
-- unlogged table, a storage parameter, an index on an expression, functions and triggers. Ids are compared byte by byte
-- (COLLATE "C"), so that a page of a list is an index range whatever the locale of the database.

-- ---------------------------------------------------------------- enums

CREATE TYPE "OrgRole" AS ENUM ('MEMBER', 'ADMIN');
CREATE TYPE "InviteStatus" AS ENUM ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED');
CREATE TYPE "AuthScheme" AS ENUM (
  'NONE',
  'API_KEY',
  'BASIC',
  'OAUTH2_AUTHORIZATION_CODE',
  'OAUTH2_AUTHORIZATION_CODE_PKCE',
  'OAUTH2_CLIENT_CREDENTIALS',
  'OAUTH2_PASSWORD'
);
CREATE TYPE "ConnectionStatus" AS ENUM ('CREATED', 'WORKING', 'BAD_CREDENTIALS');
CREATE TYPE "InstallationHealth" AS ENUM ('HEALTHY', 'UNHEALTHY');
CREATE TYPE "OperationActionType" AS ENUM ('READ', 'WRITE', 'SUBSCRIBE');
CREATE TYPE "OperationStatus" AS ENUM ('IN_PROGRESS', 'SUCCESS', 'FAILURE');
CREATE TYPE "LogSeverity" AS ENUM ('DEBUG', 'INFO', 'WARNING', 'ERROR');
CREATE TYPE "RequestKind" AS ENUM ('API', 'PROXY', 'TOKEN');
CREATE TYPE "WriteType" AS ENUM ('CREATE', 'UPDATE', 'DELETE');
CREATE TYPE "WriteMode" AS ENUM ('SYNCHRONOUS', 'ASYNCHRONOUS');
CREATE TYPE "ReadType" AS ENUM ('BACKFILL', 'SCHEDULED', 'TRIGGERED');
CREATE TYPE "ProposalStatus" AS ENUM ('PENDING', 'APPROVED', 'REJECTED', 'COMMITTING', 'COMMITTED', 'EXPIRED', 'STALE');
CREATE TYPE "SubscriptionStatus" AS ENUM ('PENDING', 'ACTIVE', 'FAILED', 'UNSUPPORTED');
CREATE TYPE "ProviderEventKind" AS ENUM ('CREATE', 'UPDATE', 'DELETE', 'ASSOCIATION_UPDATE', 'OTHER');
CREATE TYPE "NotificationEventType" AS ENUM (
  'READ_BACKFILL_DONE',
  'READ_SCHEDULE_PAUSED',
  'READ_TRIGGERED_DONE',
  'READ_TRIGGERED_ERROR',
  'WRITE_ASYNC_DONE',
  'CONNECTION_CREATED',
  'CONNECTION_UPDATED',
  'CONNECTION_REFRESHED',
  'CONNECTION_ERROR',
  'CONNECTION_DELETED',
  'INSTALLATION_CREATED',
  'INSTALLATION_UPDATED',
  'INSTALLATION_DELETED',
  'SUBSCRIBE_CREATE_ERROR',
  'DESTINATION_WEBHOOK_DISABLED',
  'DESTINATION_WEBHOOK_FAILING',
  'DELIVERY_FAILED',
  'SETUP_FAILED',
  'PROPOSAL_CREATED',
  'PROPOSAL_APPROVED',
  'PROPOSAL_REJECTED',
  'PROPOSAL_COMMITTED',
  'PROPOSAL_EXPIRED',
  'PROPOSAL_STALE'
);
CREATE TYPE "DestinationType" AS ENUM ('WEBHOOK', 'STREAM');
CREATE TYPE "DestinationStatus" AS ENUM ('ENABLED', 'DISABLED');
CREATE TYPE "DeliveryStatus" AS ENUM ('PENDING', 'SUCCEEDED', 'FAILED');

-- ---------------------------------------------------------------- organizations

CREATE TABLE "Org" (
  "id" TEXT COLLATE "C" NOT NULL,
  "label" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "Org_pkey" PRIMARY KEY (id)
);

CREATE TABLE "Builder" (
  "id" TEXT COLLATE "C" NOT NULL,
  "idpProvider" TEXT NOT NULL,
  "idpRef" TEXT NOT NULL,
  "firstName" TEXT,
  "lastName" TEXT,
  "fullName" TEXT,
  "primaryEmail" TEXT,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "Builder_pkey" PRIMARY KEY (id)
);
CREATE UNIQUE INDEX "Builder_idpProvider_idpRef_key" ON "Builder" ("idpProvider", "idpRef");

CREATE TABLE "ConsoleSession" (
  "id" TEXT COLLATE "C" NOT NULL,
  "builderId" TEXT COLLATE "C" NOT NULL,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "endTime" TIMESTAMPTZ(3) NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "ConsoleSession_pkey" PRIMARY KEY (id)
);
CREATE INDEX "ConsoleSession_builderId_createTime_idx" ON "ConsoleSession" ("builderId", "createTime");
CREATE INDEX "ConsoleSession_expireTime_idx" ON "ConsoleSession" ("expireTime");

CREATE TABLE "OrgMember" (
  "orgId" TEXT COLLATE "C" NOT NULL,
  "builderId" TEXT COLLATE "C" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "role" "OrgRole" NOT NULL,
  CONSTRAINT "OrgMember_pkey" PRIMARY KEY ("orgId", "builderId")
);
CREATE INDEX "OrgMember_builderId_orgId_idx" ON "OrgMember" ("builderId", "orgId");

CREATE TABLE "BillingAccount" (
  "id" TEXT COLLATE "C" NOT NULL,
  "orgId" TEXT COLLATE "C" NOT NULL,
  "displayName" TEXT NOT NULL,
  "billingProvider" TEXT NOT NULL,
  "billingProviderRef" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "BillingAccount_pkey" PRIMARY KEY (id)
);
CREATE UNIQUE INDEX "BillingAccount_orgId_key" ON "BillingAccount" ("orgId");

CREATE TABLE "Invite" (
  "id" TEXT COLLATE "C" NOT NULL,
  "orgId" TEXT COLLATE "C" NOT NULL,
  "invitedEmail" TEXT NOT NULL,
  "status" "InviteStatus" NOT NULL,
  "pendingEmail" TEXT,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "role" "OrgRole" NOT NULL,
  CONSTRAINT "Invite_pkey" PRIMARY KEY (id)
);
CREATE INDEX "Invite_orgId_id_idx" ON "Invite" ("orgId", id);
CREATE UNIQUE INDEX "Invite_orgId_pendingEmail_key" ON "Invite" ("orgId", "pendingEmail");
CREATE INDEX "Invite_orgId_status_id_idx" ON "Invite" ("orgId", status, id);
CREATE INDEX "Invite_pendingEmail_id_idx" ON "Invite" ("pendingEmail", id);

CREATE TABLE "ClaimedDomain" (
  "id" TEXT COLLATE "C" NOT NULL,
  "domain" TEXT NOT NULL,
  "orgId" TEXT COLLATE "C" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "provenDomain" TEXT,
  "verifiedTime" TIMESTAMPTZ(3),
  CONSTRAINT "ClaimedDomain_pkey" PRIMARY KEY (id)
);
CREATE UNIQUE INDEX "ClaimedDomain_domain_orgId_key" ON "ClaimedDomain" (domain, "orgId");
CREATE INDEX "ClaimedDomain_orgId_id_idx" ON "ClaimedDomain" ("orgId", id);
CREATE UNIQUE INDEX "ClaimedDomain_provenDomain_key" ON "ClaimedDomain" ("provenDomain");

-- ---------------------------------------------------------------- projects

CREATE TABLE "Project" (
  "id" TEXT COLLATE "C" NOT NULL,
  "orgId" TEXT COLLATE "C" NOT NULL,
  "name" TEXT NOT NULL,
  "appName" TEXT NOT NULL,
  "brandingRemoval" BOOLEAN NOT NULL DEFAULT false,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "allowedOrigins" TEXT[] DEFAULT ARRAY[]::text[],
  "accentColor" TEXT,
  "locale" TEXT,
  "logoUrl" TEXT,
  CONSTRAINT "Project_pkey" PRIMARY KEY (id)
);
CREATE INDEX "Project_allowedOrigins_idx" ON "Project" USING gin ("allowedOrigins");
CREATE UNIQUE INDEX "Project_name_key" ON "Project" (name);
CREATE INDEX "Project_orgId_id_idx" ON "Project" ("orgId", id);

CREATE TABLE "ApiKey" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "label" TEXT NOT NULL,
  "scopes" TEXT[],
  "active" BOOLEAN NOT NULL DEFAULT true,
  "prefix" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "lastUsedTime" TIMESTAMPTZ(3),
  CONSTRAINT "ApiKey_pkey" PRIMARY KEY ("projectId", id)
);
CREATE UNIQUE INDEX "ApiKey_hash_key" ON "ApiKey" (hash);
CREATE INDEX "ApiKey_projectId_active_id_idx" ON "ApiKey" ("projectId", active, id);

CREATE TABLE "JwtKey" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "label" TEXT NOT NULL,
  "publicKeyPem" TEXT NOT NULL,
  "active" BOOLEAN NOT NULL DEFAULT true,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "JwtKey_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "JwtKey_id_idx" ON "JwtKey" (id);
CREATE INDEX "JwtKey_projectId_active_id_idx" ON "JwtKey" ("projectId", active, id);

CREATE TABLE "ProviderApp" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "provider" TEXT NOT NULL,
  "clientId" TEXT COLLATE "C" NOT NULL,
  "clientSecretSealed" TEXT NOT NULL,
  "externalRef" TEXT,
  "scopes" TEXT[],
  "metadata" JSONB,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "previousWebhookSecretExpireTime" TIMESTAMPTZ(3),
  "previousWebhookSecretSealed" TEXT,
  "webhookSecretSealed" TEXT,
  "credentialTargets" TEXT,
  CONSTRAINT "ProviderApp_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "ProviderApp_id_idx" ON "ProviderApp" (id);
CREATE INDEX "ProviderApp_projectId_provider_id_idx" ON "ProviderApp" ("projectId", provider, id);

CREATE TABLE "CustomProvider" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "name" TEXT NOT NULL,
  "document" TEXT NOT NULL,
  "content" JSONB NOT NULL,
  "revision" INTEGER NOT NULL DEFAULT 1,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "CustomProvider_pkey" PRIMARY KEY ("projectId", id)
);
CREATE UNIQUE INDEX "CustomProvider_projectId_name_key" ON "CustomProvider" ("projectId", name);

CREATE TABLE "Group" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "groupRef" TEXT NOT NULL,
  "groupName" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "Group_pkey" PRIMARY KEY ("projectId", id)
);
CREATE UNIQUE INDEX "Group_projectId_groupRef_key" ON "Group" ("projectId", "groupRef");

CREATE TABLE "Consumer" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "consumerRef" TEXT NOT NULL,
  "consumerName" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "Consumer_pkey" PRIMARY KEY ("projectId", id)
);
CREATE UNIQUE INDEX "Consumer_projectId_consumerRef_key" ON "Consumer" ("projectId", "consumerRef");

CREATE TABLE "Erasure" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "id" TEXT COLLATE "C" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "dueTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  CONSTRAINT "Erasure_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Erasure_dueTime_idx" ON "Erasure" ("dueTime");

-- ---------------------------------------------------------------- connections

CREATE TABLE "Connection" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "provider" TEXT NOT NULL,
  "groupId" TEXT COLLATE "C" NOT NULL,
  "consumerId" TEXT COLLATE "C" NOT NULL,
  "providerAppId" TEXT COLLATE "C",
  "authScheme" "AuthScheme" NOT NULL,
  "status" "ConnectionStatus" NOT NULL DEFAULT 'CREATED',
  "providerWorkspaceRef" TEXT,
  "providerConsumerRef" TEXT,
  "providerMetadata" JSONB,
  "credentialsSealed" TEXT,
  "tokenExpireTime" TIMESTAMPTZ(3),
  "refreshLeaseExpireTime" TIMESTAMPTZ(3),
  "refreshLeaseToken" TEXT,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "badCredentialsSince" TIMESTAMPTZ(3),
  "refreshRejectedTime" TIMESTAMPTZ(3),
  "unrefreshableSince" TIMESTAMPTZ(3),
  "isWorkspaceFromToken" BOOLEAN NOT NULL DEFAULT false,
  "refreshDueTime" TIMESTAMPTZ(3),
  "credentialTargets" TEXT,
  CONSTRAINT "Connection_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Connection_projectId_consumerId_status_id_idx" ON "Connection" ("projectId", "consumerId", status, id);
CREATE INDEX "Connection_projectId_groupId_status_id_idx" ON "Connection" ("projectId", "groupId", status, id);
CREATE INDEX "Connection_projectId_id_idx" ON "Connection" ("projectId", id) WHERE ("unrefreshableSince" IS NOT NULL);
CREATE INDEX "Connection_projectId_providerAppId_idx" ON "Connection" ("projectId", "providerAppId");
CREATE UNIQUE INDEX "Connection_projectId_provider_groupId_consumerId_key" ON "Connection" ("projectId", provider, "groupId", "consumerId");
CREATE INDEX "Connection_projectId_provider_status_id_idx" ON "Connection" ("projectId", provider, status, id);
CREATE INDEX "Connection_projectId_status_id_idx" ON "Connection" ("projectId", status, id);
CREATE INDEX "Connection_refreshDueTime_idx" ON "Connection" ("refreshDueTime") WHERE ("refreshDueTime" IS NOT NULL);

CREATE TABLE "OAuthConnect" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "provider" TEXT NOT NULL,
  "providerAppId" TEXT COLLATE "C" NOT NULL,
  "authScheme" "AuthScheme" NOT NULL,
  "input" JSONB NOT NULL,
  "callbackUrl" TEXT NOT NULL,
  "redirectUrl" TEXT,
  "codeVerifierSealed" TEXT,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "OAuthConnect_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "OAuthConnect_expireTime_idx" ON "OAuthConnect" ("expireTime");
CREATE INDEX "OAuthConnect_projectId_expireTime_idx" ON "OAuthConnect" ("projectId", "expireTime");
CREATE INDEX "OAuthConnect_projectId_providerAppId_idx" ON "OAuthConnect" ("projectId", "providerAppId");

-- ---------------------------------------------------------------- integrations

CREATE TABLE "Integration" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "name" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "latestRevisionId" TEXT COLLATE "C" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "Integration_pkey" PRIMARY KEY ("projectId", id)
);
-- Names are unique regardless of case.
CREATE UNIQUE INDEX "Integration_projectId_lower_name_key" ON "Integration" ("projectId", lower(name));
CREATE UNIQUE INDEX "Integration_projectId_name_key" ON "Integration" ("projectId", name);
CREATE INDEX "Integration_projectId_provider_id_idx" ON "Integration" ("projectId", provider, id);

CREATE TABLE "ManifestUpload" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "content" BYTEA NOT NULL,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "ManifestUpload_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "ManifestUpload_expireTime_idx" ON "ManifestUpload" ("expireTime");
CREATE INDEX "ManifestUpload_projectId_expireTime_idx" ON "ManifestUpload" ("projectId", "expireTime");

CREATE TABLE "Plan" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "hash" TEXT NOT NULL,
  "baseHash" TEXT NOT NULL,
  "base" JSONB NOT NULL,
  "allowDeletions" BOOLEAN NOT NULL,
  "changes" JSONB NOT NULL,
  "contractChanges" JSONB NOT NULL,
  "impacts" JSONB NOT NULL,
  "findings" JSONB NOT NULL,
  "requiredSecrets" TEXT[],
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "applyTime" TIMESTAMPTZ(3),
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "Plan_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Plan_expireTime_idx" ON "Plan" ("expireTime");

CREATE TABLE "Revision" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "integrationId" TEXT COLLATE "C" NOT NULL,
  "specVersion" TEXT NOT NULL,
  "content" JSONB NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "Revision_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Revision_projectId_integrationId_id_idx" ON "Revision" ("projectId", "integrationId", id);

CREATE TABLE "Installation" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "integrationId" TEXT COLLATE "C" NOT NULL,
  "groupId" TEXT COLLATE "C" NOT NULL,
  "connectionId" TEXT COLLATE "C" NOT NULL,
  "configId" TEXT COLLATE "C" NOT NULL,
  "createdBy" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "consecutiveFailures" INTEGER NOT NULL DEFAULT 0,
  "healthReason" TEXT,
  "healthStatus" "InstallationHealth" NOT NULL DEFAULT 'HEALTHY',
  "unhealthySince" TIMESTAMPTZ(3),
  CONSTRAINT "Installation_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Installation_projectId_connectionId_id_idx" ON "Installation" ("projectId", "connectionId", id);
CREATE INDEX "Installation_projectId_groupId_id_idx" ON "Installation" ("projectId", "groupId", id);
CREATE INDEX "Installation_projectId_healthStatus_id_idx" ON "Installation" ("projectId", "healthStatus", id);
CREATE UNIQUE INDEX "Installation_projectId_integrationId_groupId_key" ON "Installation" ("projectId", "integrationId", "groupId");
CREATE INDEX "Installation_projectId_integrationId_healthStatus_id_idx" ON "Installation" ("projectId", "integrationId", "healthStatus", id);
CREATE INDEX "Installation_projectId_integrationId_id_idx" ON "Installation" ("projectId", "integrationId", id);

CREATE TABLE "DestinationUse" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "destinationName" TEXT NOT NULL,
  "usedById" TEXT COLLATE "C" NOT NULL,
  "integrationId" TEXT COLLATE "C",
  "installationId" TEXT COLLATE "C",
  CONSTRAINT "DestinationUse_pkey" PRIMARY KEY ("projectId", "destinationName", "usedById")
);
CREATE INDEX "DestinationUse_projectId_installationId_idx" ON "DestinationUse" ("projectId", "installationId") WHERE ("installationId" IS NOT NULL);
CREATE INDEX "DestinationUse_projectId_integrationId_idx" ON "DestinationUse" ("projectId", "integrationId") WHERE ("integrationId" IS NOT NULL);

CREATE TABLE "InstallationConfig" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "content" JSONB NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "createdBy" TEXT,
  CONSTRAINT "InstallationConfig_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "InstallationConfig_installationId_idx" ON "InstallationConfig" ("installationId");

CREATE TABLE "InstalledObject" (
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "paused" BOOLEAN NOT NULL DEFAULT false,
  "pauseNote" TEXT,
  "nextReadTime" TIMESTAMPTZ(3),
  "lastReadTime" TIMESTAMPTZ(3),
  "backfillDone" BOOLEAN NOT NULL DEFAULT false,
  "recordsRead" INTEGER NOT NULL DEFAULT 0,
  "readUntil" TIMESTAMPTZ(3),
  "consecutiveFailures" INTEGER NOT NULL DEFAULT 0,
  "backfillOperationId" TEXT COLLATE "C",
  "pausedSince" TIMESTAMPTZ(3),
  CONSTRAINT "InstalledObject_pkey" PRIMARY KEY ("projectId", "installationId", "objectName")
);
CREATE INDEX "InstalledObject_nextReadTime_idx" ON "InstalledObject" ("nextReadTime");
CREATE INDEX "InstalledObject_projectId_installationId_objectName_idx" ON "InstalledObject" ("projectId", "installationId", "objectName") WHERE (paused = true);

CREATE TABLE "DeliveredEntries" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "hashes" BYTEA NOT NULL,
  CONSTRAINT "DeliveredEntries_pkey" PRIMARY KEY ("projectId", "installationId", "objectName")
);

-- ---------------------------------------------------------------- operations

CREATE TABLE "Operation" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "integrationId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "configId" TEXT COLLATE "C" NOT NULL,
  "actionType" "OperationActionType" NOT NULL,
  "status" "OperationStatus" NOT NULL,
  "result" TEXT,
  "metadata" JSONB NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "consumerId" TEXT COLLATE "C",
  "groupId" TEXT COLLATE "C",
  CONSTRAINT "Operation_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Operation_consumerId_idx" ON "Operation" ("consumerId") WHERE ("consumerId" IS NOT NULL);
CREATE INDEX "Operation_createTime_idx" ON "Operation" ("createTime");
CREATE INDEX "Operation_projectId_groupId_status_actionType_id_idx" ON "Operation" ("projectId", "groupId", status, "actionType", id);
CREATE INDEX "Operation_projectId_installationId_actionType_status_id_idx" ON "Operation" ("projectId", "installationId", "actionType", status, id);
CREATE INDEX "Operation_projectId_installationId_id_idx" ON "Operation" ("projectId", "installationId", id);
CREATE INDEX "Operation_projectId_installationId_status_id_idx" ON "Operation" ("projectId", "installationId", status, id);
CREATE INDEX "Operation_projectId_integrationId_status_actionType_id_idx" ON "Operation" ("projectId", "integrationId", status, "actionType", id);
CREATE INDEX "Operation_projectId_status_actionType_id_idx" ON "Operation" ("projectId", status, "actionType", id);

CREATE TABLE "OperationLog" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "operationId" TEXT COLLATE "C" NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "severity" "LogSeverity" NOT NULL,
  "message" TEXT NOT NULL,
  "details" JSONB,
  CONSTRAINT "OperationLog_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "OperationLog_projectId_operationId_id_idx" ON "OperationLog" ("projectId", "operationId", id);

CREATE TABLE "RecordedRequest" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "operationId" TEXT COLLATE "C",
  "connectionId" TEXT COLLATE "C",
  "kind" "RequestKind" NOT NULL,
  "method" TEXT NOT NULL,
  "host" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  "responseStatus" INTEGER,
  "error" TEXT,
  "isFailed" BOOLEAN NOT NULL,
  "durationMs" INTEGER NOT NULL,
  "requestHeaders" JSONB NOT NULL,
  "responseHeaders" JSONB,
  "responseBody" TEXT,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "RecordedRequest_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "RecordedRequest_createTime_idx" ON "RecordedRequest" ("createTime");
CREATE INDEX "RecordedRequest_projectId_connectionId_id_idx" ON "RecordedRequest" ("projectId", "connectionId", id) WHERE ("connectionId" IS NOT NULL);
CREATE INDEX "RecordedRequest_projectId_operationId_id_idx" ON "RecordedRequest" ("projectId", "operationId", id) WHERE ("operationId" IS NOT NULL);

-- ---------------------------------------------------------------- writes

CREATE TABLE "WriteTask" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "type" "WriteType" NOT NULL,
  "mode" "WriteMode" NOT NULL,
  "allOrNone" BOOLEAN NOT NULL DEFAULT false,
  "headers" JSONB,
  "batchKey" TEXT,
  "recordCount" INTEGER NOT NULL,
  "dueTime" TIMESTAMPTZ(3),
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  "isUncertain" BOOLEAN NOT NULL DEFAULT false,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "lastAttemptTime" TIMESTAMPTZ(3),
  "deadlineTime" TIMESTAMPTZ(3) NOT NULL,
  "endTime" TIMESTAMPTZ(3),
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "uncertainSince" TIMESTAMPTZ(3),
  "traceparent" TEXT,
  CONSTRAINT "WriteTask_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "WriteTask_dueTime_idx" ON "WriteTask" ("dueTime") WHERE ("dueTime" IS NOT NULL);
CREATE INDEX "WriteTask_endTime_idx" ON "WriteTask" ("endTime") WHERE ("endTime" IS NOT NULL);
CREATE UNIQUE INDEX "WriteTask_projectId_batchKey_key" ON "WriteTask" ("projectId", "batchKey");

CREATE TABLE "WriteEntry" (
  "taskId" TEXT COLLATE "C" NOT NULL,
  "position" INTEGER NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "operationId" TEXT COLLATE "C" NOT NULL,
  "record" JSONB NOT NULL,
  "associations" JSONB,
  "outcome" JSONB,
  "ifEmpty" JSONB,
  "expected" JSONB,
  "omittedFields" JSONB,
  CONSTRAINT "WriteEntry_pkey" PRIMARY KEY ("projectId", "taskId", "position")
);
CREATE INDEX "WriteEntry_operationId_position_idx" ON "WriteEntry" ("operationId", "position");

CREATE TABLE "IdempotencyKey" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "key" TEXT NOT NULL,
  "inputHash" TEXT NOT NULL,
  "operationId" TEXT COLLATE "C" NOT NULL,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "IdempotencyKey_pkey" PRIMARY KEY ("projectId", key)
);
CREATE INDEX "IdempotencyKey_expireTime_idx" ON "IdempotencyKey" ("expireTime");
CREATE INDEX "IdempotencyKey_operationId_idx" ON "IdempotencyKey" ("operationId");

CREATE TABLE "ReadRun" (
  "operationId" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "readType" "ReadType" NOT NULL,
  "since" TIMESTAMPTZ(3),
  "until" TIMESTAMPTZ(3),
  "nextReadUntil" TIMESTAMPTZ(3),
  "cursor" TEXT,
  "planKey" TEXT,
  "pagesRead" INTEGER NOT NULL DEFAULT 0,
  "recordsRead" INTEGER NOT NULL DEFAULT 0,
  "estimatedTotal" INTEGER,
  "failures" INTEGER NOT NULL DEFAULT 0,
  "restarts" INTEGER NOT NULL DEFAULT 0,
  "dueTime" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
  "leaseToken" TEXT,
  "leaseExpireTime" TIMESTAMPTZ(3),
  "paused" BOOLEAN NOT NULL DEFAULT false,
  "pendingRecords" TEXT,
  "earlierCursorHash" TEXT,
  "furthestPage" INTEGER NOT NULL DEFAULT 0,
  "traceparent" TEXT,
  CONSTRAINT "ReadRun_pkey" PRIMARY KEY ("projectId", "operationId")
);
CREATE INDEX "ReadRun_dueTime_idx" ON "ReadRun" ("dueTime");
CREATE INDEX "ReadRun_installationId_objectName_idx" ON "ReadRun" ("installationId", "objectName");
CREATE INDEX "ReadRun_projectId_readType_idx" ON "ReadRun" ("projectId", "readType");

-- ---------------------------------------------------------------- agents

CREATE TABLE "AgentSession" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "groupId" TEXT COLLATE "C" NOT NULL,
  "consumerId" TEXT COLLATE "C" NOT NULL,
  "name" TEXT NOT NULL,
  "objectNames" TEXT[],
  "verbs" TEXT[],
  "rules" JSONB NOT NULL,
  "pinnedTools" JSONB NOT NULL,
  "proposalSeconds" INTEGER NOT NULL,
  "createdBy" TEXT NOT NULL,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "revokeTime" TIMESTAMPTZ(3),
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "AgentSession_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "AgentSession_consumerId_idx" ON "AgentSession" ("consumerId");
CREATE INDEX "AgentSession_expireTime_idx" ON "AgentSession" ("expireTime");
CREATE INDEX "AgentSession_projectId_groupId_id_idx" ON "AgentSession" ("projectId", "groupId", id);

CREATE TABLE "Proposal" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "groupId" TEXT COLLATE "C" NOT NULL,
  "consumerId" TEXT COLLATE "C",
  "integrationId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "agentSessionId" TEXT COLLATE "C",
  "createdBy" TEXT NOT NULL,
  "objectName" TEXT NOT NULL,
  "type" "WriteType" NOT NULL,
  "recordId" TEXT COLLATE "C",
  "after" JSONB NOT NULL,
  "defaults" JSONB,
  "before" JSONB,
  "expected" JSONB,
  "payloadHash" TEXT NOT NULL,
  "planHash" TEXT NOT NULL,
  "reason" TEXT,
  "status" "ProposalStatus" NOT NULL DEFAULT 'PENDING',
  "rule" TEXT,
  "decidedBy" TEXT,
  "decideTime" TIMESTAMPTZ(3),
  "decisionReason" TEXT,
  "committedBy" TEXT,
  "operationId" TEXT COLLATE "C",
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  "dueTime" TIMESTAMPTZ(3),
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "omittedFields" JSONB,
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  CONSTRAINT "Proposal_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "Proposal_consumerId_idx" ON "Proposal" ("consumerId") WHERE ("consumerId" IS NOT NULL);
CREATE INDEX "Proposal_createTime_idx" ON "Proposal" ("createTime");
CREATE INDEX "Proposal_dueTime_idx" ON "Proposal" ("dueTime") WHERE ("dueTime" IS NOT NULL);
CREATE INDEX "Proposal_projectId_agentSessionId_status_id_idx" ON "Proposal" ("projectId", "agentSessionId", status, id) WHERE ("agentSessionId" IS NOT NULL);
CREATE INDEX "Proposal_projectId_groupId_status_id_idx" ON "Proposal" ("projectId", "groupId", status, id);
CREATE INDEX "Proposal_projectId_status_id_idx" ON "Proposal" ("projectId", status, id);

-- ---------------------------------------------------------------- provider-side events

CREATE TABLE "ObjectSubscription" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "provider" TEXT NOT NULL,
  "connectionId" TEXT COLLATE "C" NOT NULL,
  "providerAppId" TEXT COLLATE "C",
  "account" TEXT,
  "kinds" "ProviderEventKind"[],
  "otherEvents" TEXT[],
  "watchFields" TEXT[],
  "isWanted" BOOLEAN NOT NULL DEFAULT true,
  "status" "SubscriptionStatus" NOT NULL DEFAULT 'PENDING',
  "error" TEXT,
  "providerRef" TEXT,
  "appliedSettings" TEXT,
  "dueTime" TIMESTAMPTZ(3),
  "failures" INTEGER NOT NULL DEFAULT 0,
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  "lastEventTime" TIMESTAMPTZ(3),
  "eventCount" INTEGER NOT NULL DEFAULT 0,
  "eventsRetryTime" TIMESTAMPTZ(3),
  "eventFailures" INTEGER NOT NULL DEFAULT 0,
  "eventLeaseExpireTime" TIMESTAMPTZ(3),
  "eventLeaseToken" TEXT,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "ObjectSubscription_pkey" PRIMARY KEY ("projectId", "installationId", "objectName")
);
CREATE INDEX "ObjectSubscription_dueTime_idx" ON "ObjectSubscription" ("dueTime") WHERE ("dueTime" IS NOT NULL);
CREATE INDEX "ObjectSubscription_projectId_connectionId_idx" ON "ObjectSubscription" ("projectId", "connectionId");
CREATE INDEX "ObjectSubscription_projectId_providerAppId_account_objectNa_idx" ON "ObjectSubscription" ("projectId", "providerAppId", account, "objectName");

CREATE TABLE "SubscriptionSecret" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "providerAppId" TEXT COLLATE "C" NOT NULL,
  "account" TEXT NOT NULL,
  "secretsSealed" TEXT NOT NULL,
  "expireTime" TIMESTAMPTZ(3),
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "SubscriptionSecret_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "SubscriptionSecret_projectId_installationId_objectName_idx" ON "SubscriptionSecret" ("projectId", "installationId", "objectName");

CREATE TABLE "ProviderStream" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "connectionId" TEXT COLLATE "C" NOT NULL,
  "provider" TEXT NOT NULL,
  "status" "SubscriptionStatus" NOT NULL DEFAULT 'PENDING',
  "error" TEXT,
  "position" TEXT,
  "readUntil" TIMESTAMPTZ(3),
  "dueTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "failures" INTEGER NOT NULL DEFAULT 0,
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  CONSTRAINT "ProviderStream_pkey" PRIMARY KEY ("projectId", "connectionId")
);
CREATE INDEX "ProviderStream_dueTime_idx" ON "ProviderStream" ("dueTime");

CREATE TABLE "ListWebhook" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "providerRef" TEXT NOT NULL,
  "address" TEXT NOT NULL,
  "secretSealed" TEXT NOT NULL,
  "checkTime" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "ListWebhook_pkey" PRIMARY KEY ("projectId", id)
);

CREATE TABLE "ProviderEvent" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL,
  "nativeId" TEXT COLLATE "C" NOT NULL,
  "providerAppId" TEXT COLLATE "C" NOT NULL,
  "arrival" BIGSERIAL NOT NULL,
  "recordId" TEXT COLLATE "C",
  "kind" "ProviderEventKind" NOT NULL,
  "nativeType" TEXT NOT NULL,
  "eventTime" TIMESTAMPTZ(3) NOT NULL,
  "changedFields" TEXT[],
  "content" JSONB,
  "doneTime" TIMESTAMPTZ(3),
  "receiveTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "ProviderEvent_pkey" PRIMARY KEY ("projectId", "installationId", "objectName", "nativeId")
);
CREATE INDEX "ProviderEvent_projectId_installationId_objectName_eventTime_idx" ON "ProviderEvent" ("projectId", "installationId", "objectName", "eventTime", arrival) WHERE ("doneTime" IS NULL);
CREATE INDEX "ProviderEvent_receiveTime_idx" ON "ProviderEvent" ("receiveTime");

CREATE TABLE "SchemaWatch" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "installationId" TEXT COLLATE "C" NOT NULL,
  "connectionId" TEXT COLLATE "C",
  "knownFields" JSONB NOT NULL DEFAULT '{}',
  "dueTime" TIMESTAMPTZ(3) NOT NULL,
  "failures" INTEGER NOT NULL DEFAULT 0,
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  CONSTRAINT "SchemaWatch_pkey" PRIMARY KEY ("projectId", "installationId")
);
CREATE INDEX "SchemaWatch_dueTime_idx" ON "SchemaWatch" ("dueTime");

CREATE TABLE "LearnedField" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "provider" TEXT NOT NULL,
  "module" TEXT NOT NULL,
  "objectName" TEXT NOT NULL,
  "fieldName" TEXT NOT NULL,
  "valueType" TEXT NOT NULL,
  "readOnly" BOOLEAN NOT NULL,
  "required" BOOLEAN NOT NULL,
  "lastSeenTime" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "LearnedField_pkey" PRIMARY KEY ("projectId", provider, module, "objectName", "fieldName", "valueType")
);

CREATE TABLE "SetupFailure" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "provider" TEXT NOT NULL,
  "error" TEXT NOT NULL,
  "count" INTEGER NOT NULL,
  "firstFailureTime" TIMESTAMPTZ(3) NOT NULL,
  "lastFailureTime" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "SetupFailure_pkey" PRIMARY KEY ("projectId", provider)
);

CREATE TABLE "Acknowledgement" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "kind" TEXT NOT NULL,
  "subjectId" TEXT COLLATE "C" NOT NULL,
  "objectName" TEXT NOT NULL DEFAULT '',
  "lastTime" TIMESTAMPTZ(3) NOT NULL,
  "acknowledgedBy" TEXT NOT NULL,
  "destinationId" TEXT COLLATE "C",
  "connectionId" TEXT COLLATE "C",
  "installationId" TEXT COLLATE "C",
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "Acknowledgement_pkey" PRIMARY KEY ("projectId", kind, "subjectId", "objectName")
);
CREATE INDEX "Acknowledgement_createTime_idx" ON "Acknowledgement" ("createTime");
CREATE INDEX "Acknowledgement_projectId_connectionId_idx" ON "Acknowledgement" ("projectId", "connectionId") WHERE ("connectionId" IS NOT NULL);
CREATE INDEX "Acknowledgement_projectId_destinationId_idx" ON "Acknowledgement" ("projectId", "destinationId") WHERE ("destinationId" IS NOT NULL);
CREATE INDEX "Acknowledgement_projectId_installationId_idx" ON "Acknowledgement" ("projectId", "installationId") WHERE ("installationId" IS NOT NULL);

-- ---------------------------------------------------------------- events, topics, destinations

CREATE TABLE "Topic" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "name" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "Topic_pkey" PRIMARY KEY ("projectId", id)
);
CREATE UNIQUE INDEX "Topic_projectId_name_key" ON "Topic" ("projectId", name);

CREATE TABLE "Destination" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "name" TEXT NOT NULL,
  "type" "DestinationType" NOT NULL,
  "url" TEXT,
  "maskedHeaders" JSONB,
  "status" "DestinationStatus" NOT NULL DEFAULT 'ENABLED',
  "disabledReason" TEXT,
  "signingSecretSealed" TEXT,
  "previousSecretSealed" TEXT,
  "previousSecretExpireTime" TIMESTAMPTZ(3),
  "failingSince" TIMESTAMPTZ(3),
  "failedAttempts" INTEGER NOT NULL DEFAULT 0,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "isFailureReported" BOOLEAN NOT NULL DEFAULT false,
  "headersSealed" TEXT,
  "urlSealed" TEXT,
  CONSTRAINT "Destination_pkey" PRIMARY KEY ("projectId", id),
  CONSTRAINT "Destination_webhook_check" CHECK (((type = 'WEBHOOK'::"DestinationType") = ((url IS NOT NULL) AND ("signingSecretSealed" IS NOT NULL))))
);
CREATE UNIQUE INDEX "Destination_projectId_name_key" ON "Destination" ("projectId", name);

CREATE TABLE "EventTopicRoute" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "eventType" "NotificationEventType" NOT NULL,
  "topicId" TEXT COLLATE "C" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  CONSTRAINT "EventTopicRoute_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "EventTopicRoute_projectId_eventType_id_idx" ON "EventTopicRoute" ("projectId", "eventType", id);
CREATE UNIQUE INDEX "EventTopicRoute_projectId_eventType_topicId_key" ON "EventTopicRoute" ("projectId", "eventType", "topicId");
CREATE INDEX "EventTopicRoute_projectId_topicId_id_idx" ON "EventTopicRoute" ("projectId", "topicId", id);

CREATE TABLE "TopicDestinationRoute" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "topicId" TEXT COLLATE "C" NOT NULL,
  "destinationId" TEXT COLLATE "C" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "TopicDestinationRoute_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "TopicDestinationRoute_projectId_destinationId_id_idx" ON "TopicDestinationRoute" ("projectId", "destinationId", id);
CREATE UNIQUE INDEX "TopicDestinationRoute_projectId_topicId_destinationId_key" ON "TopicDestinationRoute" ("projectId", "topicId", "destinationId");
CREATE INDEX "TopicDestinationRoute_projectId_topicId_id_idx" ON "TopicDestinationRoute" ("projectId", "topicId", id);

CREATE TABLE "EventLog" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "lastPosition" BIGINT NOT NULL DEFAULT 0,
  CONSTRAINT "EventLog_pkey" PRIMARY KEY ("projectId")
);

CREATE TABLE "NotificationEvent" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "position" BIGINT NOT NULL,
  "eventType" "NotificationEventType" NOT NULL,
  "data" JSONB NOT NULL,
  "connectionId" TEXT COLLATE "C",
  "installationId" TEXT COLLATE "C",
  "operationId" TEXT COLLATE "C",
  "destinationId" TEXT COLLATE "C",
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "consumerId" TEXT COLLATE "C",
  "groupId" TEXT COLLATE "C",
  CONSTRAINT "NotificationEvent_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "NotificationEvent_consumerId_idx" ON "NotificationEvent" ("consumerId") WHERE ("consumerId" IS NOT NULL);
CREATE INDEX "NotificationEvent_createTime_idx" ON "NotificationEvent" ("createTime");
CREATE INDEX "NotificationEvent_groupId_idx" ON "NotificationEvent" ("groupId") WHERE ("groupId" IS NOT NULL);
CREATE INDEX "NotificationEvent_projectId_eventType_position_idx" ON "NotificationEvent" ("projectId", "eventType", "position");
CREATE UNIQUE INDEX "NotificationEvent_projectId_position_key" ON "NotificationEvent" ("projectId", "position");

CREATE TABLE "NotificationEventTopic" (
  "eventId" TEXT COLLATE "C" NOT NULL,
  "topicId" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "position" BIGINT NOT NULL,
  "eventType" "NotificationEventType" NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "NotificationEventTopic_pkey" PRIMARY KEY ("projectId", "eventId", "topicId")
);
CREATE INDEX "NotificationEventTopic_projectId_topicId_eventType_position_idx" ON "NotificationEventTopic" ("projectId", "topicId", "eventType", "position");
CREATE INDEX "NotificationEventTopic_projectId_topicId_position_idx" ON "NotificationEventTopic" ("projectId", "topicId", "position");

CREATE TABLE "StreamLog" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "destinationId" TEXT COLLATE "C" NOT NULL,
  "lastPosition" BIGINT NOT NULL DEFAULT 0,
  "lastByte" BIGINT NOT NULL DEFAULT 0,
  "removedPosition" BIGINT NOT NULL DEFAULT 0,
  "removedByte" BIGINT NOT NULL DEFAULT 0,
  "isDeleted" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "StreamLog_pkey" PRIMARY KEY ("projectId", "destinationId")
);

CREATE TABLE "StreamMessage" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "destinationId" TEXT COLLATE "C" NOT NULL,
  "position" BIGINT NOT NULL,
  "lastByte" BIGINT NOT NULL,
  "groupId" TEXT COLLATE "C",
  "consumerId" TEXT COLLATE "C",
  "body" TEXT NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "StreamMessage_pkey" PRIMARY KEY ("projectId", id)
);
CREATE INDEX "StreamMessage_projectId_consumerId_idx" ON "StreamMessage" ("projectId", "consumerId") WHERE ("consumerId" IS NOT NULL);
CREATE UNIQUE INDEX "StreamMessage_projectId_destinationId_position_key" ON "StreamMessage" ("projectId", "destinationId", "position");
CREATE INDEX "StreamMessage_projectId_groupId_idx" ON "StreamMessage" ("projectId", "groupId") WHERE ("groupId" IS NOT NULL);

-- A claim changes no indexed column. Free space on the page keeps the new row there, so that no index changes.
CREATE TABLE "Delivery" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "destinationId" TEXT COLLATE "C" NOT NULL,
  "eventId" TEXT COLLATE "C",
  "operationId" TEXT COLLATE "C",
  "status" "DeliveryStatus" NOT NULL DEFAULT 'PENDING',
  "failureReason" TEXT,
  "body" TEXT NOT NULL,
  "attemptCount" INTEGER NOT NULL DEFAULT 0,
  "nextAttemptTime" TIMESTAMPTZ(3) DEFAULT statement_timestamp(),
  "leaseExpireTime" TIMESTAMPTZ(3),
  "leaseToken" TEXT,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updateTime" TIMESTAMPTZ(3),
  "consumerId" TEXT COLLATE "C",
  "groupId" TEXT COLLATE "C",
  "afterId" TEXT COLLATE "C",
  "orderKey" TEXT,
  "eventType" "NotificationEventType",
  "traceparent" TEXT,
  "isRetrying" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "Delivery_pkey" PRIMARY KEY ("projectId", id)
) WITH (fillfactor=80);
CREATE INDEX "Delivery_afterId_idx" ON "Delivery" ("afterId") WHERE ("afterId" IS NOT NULL);
CREATE INDEX "Delivery_consumerId_idx" ON "Delivery" ("consumerId") WHERE ("consumerId" IS NOT NULL);
CREATE INDEX "Delivery_createTime_idx" ON "Delivery" ("createTime");
CREATE INDEX "Delivery_groupId_idx" ON "Delivery" ("groupId") WHERE ("groupId" IS NOT NULL);
CREATE INDEX "Delivery_projectId_destinationId_id_idx" ON "Delivery" ("projectId", "destinationId", id);
CREATE INDEX "Delivery_projectId_destinationId_nextAttemptTime_idx" ON "Delivery" ("projectId", "destinationId", "nextAttemptTime") WHERE ("nextAttemptTime" IS NOT NULL);
CREATE INDEX "Delivery_projectId_destinationId_orderKey_id_idx" ON "Delivery" ("projectId", "destinationId", "orderKey", id) WHERE ("orderKey" IS NOT NULL);
CREATE INDEX "Delivery_projectId_destinationId_status_isRetrying_id_idx" ON "Delivery" ("projectId", "destinationId", status, "isRetrying", id);
CREATE INDEX "Delivery_projectId_eventId_id_idx" ON "Delivery" ("projectId", "eventId", id);
CREATE INDEX "Delivery_projectId_eventType_status_isRetrying_id_idx" ON "Delivery" ("projectId", "eventType", status, "isRetrying", id) WHERE ("eventType" IS NOT NULL);
CREATE INDEX "Delivery_projectId_status_isRetrying_id_idx" ON "Delivery" ("projectId", status, "isRetrying", id);

CREATE TABLE "DeliveryAttempt" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "deliveryId" TEXT COLLATE "C" NOT NULL,
  "attemptNumber" INTEGER NOT NULL,
  "responseStatus" INTEGER,
  "error" TEXT,
  "durationMs" INTEGER NOT NULL,
  "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "responseBody" TEXT,
  CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY ("projectId", id)
);
CREATE UNIQUE INDEX "DeliveryAttempt_projectId_deliveryId_attemptNumber_key" ON "DeliveryAttempt" ("projectId", "deliveryId", "attemptNumber");

-- ---------------------------------------------------------------- activity

CREATE TABLE "ActivityDelta" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "number" BIGSERIAL NOT NULL,
  "time" TIMESTAMPTZ(3) NOT NULL,
  "kind" TEXT COLLATE "C" NOT NULL,
  "key" TEXT COLLATE "C" NOT NULL,
  "bucket" INTEGER NOT NULL DEFAULT 0,
  "total" INTEGER NOT NULL DEFAULT 0,
  "failed" INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT "ActivityDelta_pkey" PRIMARY KEY ("projectId", number)
);
CREATE INDEX "ActivityDelta_number_idx" ON "ActivityDelta" (number);

CREATE TABLE "ActivityCount" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "grain" TEXT COLLATE "C" NOT NULL,
  "time" TIMESTAMPTZ(3) NOT NULL,
  "kind" TEXT COLLATE "C" NOT NULL,
  "key" TEXT COLLATE "C" NOT NULL,
  "total" INTEGER[],
  "failed" INTEGER[],
  "p50Ms" INTEGER[],
  "p95Ms" INTEGER[],
  "p99Ms" INTEGER[],
  CONSTRAINT "ActivityCount_pkey" PRIMARY KEY ("projectId", grain, kind, "time", key)
);
CREATE INDEX "ActivityCount_projectId_grain_kind_key_time_idx" ON "ActivityCount" ("projectId", grain, kind, key, "time");
CREATE INDEX "ActivityCount_time_idx" ON "ActivityCount" ("time");

CREATE TABLE "ActivityHistogram" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "grain" TEXT COLLATE "C" NOT NULL,
  "key" TEXT COLLATE "C" NOT NULL,
  "time" TIMESTAMPTZ(3) NOT NULL,
  "durations" INTEGER[],
  CONSTRAINT "ActivityHistogram_pkey" PRIMARY KEY ("projectId", grain, key, "time")
);
CREATE INDEX "ActivityHistogram_time_idx" ON "ActivityHistogram" ("time");

CREATE TABLE "SearchWord" (
  "projectId" TEXT COLLATE "C" NOT NULL,
  "kind" TEXT COLLATE "C" NOT NULL,
  "sortKey" TEXT COLLATE "C" NOT NULL,
  "rowId" TEXT COLLATE "C" NOT NULL,
  CONSTRAINT "SearchWord_pkey" PRIMARY KEY ("projectId", kind, "sortKey")
);
CREATE INDEX "SearchWord_projectId_rowId_sortKey_idx" ON "SearchWord" ("projectId", "rowId", "sortKey");

-- Unlogged, because each request writes it and a crash may reset it.
CREATE UNLOGGED TABLE "CallerRate" (
  "callerId" TEXT COLLATE "C" NOT NULL,
  "tokens" DOUBLE PRECISION NOT NULL,
  "refillTime" TIMESTAMPTZ(6) NOT NULL,
  CONSTRAINT "CallerRate_pkey" PRIMARY KEY ("callerId")
);

CREATE TABLE "SandboxLease" (
  "id" INTEGER NOT NULL,
  "token" TEXT NOT NULL,
  "url" TEXT,
  "expireTime" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "SandboxLease_pkey" PRIMARY KEY (id)
);

CREATE TABLE "ServerProcess" (
  "id" TEXT COLLATE "C" NOT NULL,
  "lockKey" SERIAL NOT NULL,
  "startTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "lockMissingSince" TIMESTAMPTZ(3),
  CONSTRAINT "ServerProcess_pkey" PRIMARY KEY (id)
);
CREATE UNIQUE INDEX "ServerProcess_lockKey_key" ON "ServerProcess" ("lockKey");

-- ---------------------------------------------------------------- foreign keys

ALTER TABLE "ConsoleSession" ADD CONSTRAINT "ConsoleSession_builderId_fkey" FOREIGN KEY ("builderId")
  REFERENCES "Builder"(id) ON DELETE CASCADE;
ALTER TABLE "OrgMember" ADD CONSTRAINT "OrgMember_builderId_fkey" FOREIGN KEY ("builderId")
  REFERENCES "Builder"(id) ON DELETE CASCADE;
ALTER TABLE "OrgMember" ADD CONSTRAINT "OrgMember_orgId_fkey" FOREIGN KEY ("orgId")
  REFERENCES "Org"(id) ON DELETE CASCADE;
ALTER TABLE "BillingAccount" ADD CONSTRAINT "BillingAccount_orgId_fkey" FOREIGN KEY ("orgId")
  REFERENCES "Org"(id) ON DELETE CASCADE;
ALTER TABLE "Invite" ADD CONSTRAINT "Invite_orgId_fkey" FOREIGN KEY ("orgId")
  REFERENCES "Org"(id) ON DELETE CASCADE;
ALTER TABLE "ClaimedDomain" ADD CONSTRAINT "ClaimedDomain_orgId_fkey" FOREIGN KEY ("orgId")
  REFERENCES "Org"(id) ON DELETE CASCADE;
ALTER TABLE "Project" ADD CONSTRAINT "Project_orgId_fkey" FOREIGN KEY ("orgId")
  REFERENCES "Org"(id) ON DELETE RESTRICT;
ALTER TABLE "ApiKey" ADD CONSTRAINT "ApiKey_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "JwtKey" ADD CONSTRAINT "JwtKey_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "ProviderApp" ADD CONSTRAINT "ProviderApp_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "CustomProvider" ADD CONSTRAINT "CustomProvider_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Group" ADD CONSTRAINT "Group_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Consumer" ADD CONSTRAINT "Consumer_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Erasure" ADD CONSTRAINT "Erasure_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_providerAppId_fkey" FOREIGN KEY ("projectId", "providerAppId")
  REFERENCES "ProviderApp"("projectId", id);
ALTER TABLE "OAuthConnect" ADD CONSTRAINT "OAuthConnect_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "OAuthConnect" ADD CONSTRAINT "OAuthConnect_projectId_providerAppId_fkey" FOREIGN KEY ("projectId", "providerAppId")
  REFERENCES "ProviderApp"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "Integration" ADD CONSTRAINT "Integration_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "ManifestUpload" ADD CONSTRAINT "ManifestUpload_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Plan" ADD CONSTRAINT "Plan_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Revision" ADD CONSTRAINT "Revision_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Revision" ADD CONSTRAINT "Revision_projectId_integrationId_fkey" FOREIGN KEY ("projectId", "integrationId")
  REFERENCES "Integration"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId")
  REFERENCES "Connection"("projectId", id);
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_integrationId_fkey" FOREIGN KEY ("projectId", "integrationId")
  REFERENCES "Integration"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "DestinationUse" ADD CONSTRAINT "DestinationUse_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "DestinationUse" ADD CONSTRAINT "DestinationUse_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId")
  REFERENCES "Installation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "DestinationUse" ADD CONSTRAINT "DestinationUse_projectId_integrationId_fkey" FOREIGN KEY ("projectId", "integrationId")
  REFERENCES "Integration"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "InstallationConfig" ADD CONSTRAINT "InstallationConfig_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "InstallationConfig" ADD CONSTRAINT "InstallationConfig_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId")
  REFERENCES "Installation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "InstalledObject" ADD CONSTRAINT "InstalledObject_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId")
  REFERENCES "Installation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "DeliveredEntries" ADD CONSTRAINT "DeliveredEntries_projectId_installationId_objectName_fkey" FOREIGN KEY ("projectId", "installationId", "objectName")
  REFERENCES "InstalledObject"("projectId", "installationId", "objectName") ON DELETE CASCADE;
ALTER TABLE "Operation" ADD CONSTRAINT "Operation_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "Operation" ADD CONSTRAINT "Operation_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Operation" ADD CONSTRAINT "Operation_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "OperationLog" ADD CONSTRAINT "OperationLog_projectId_operationId_fkey" FOREIGN KEY ("projectId", "operationId")
  REFERENCES "Operation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "RecordedRequest" ADD CONSTRAINT "RecordedRequest_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId")
  REFERENCES "Connection"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "RecordedRequest" ADD CONSTRAINT "RecordedRequest_projectId_operationId_fkey" FOREIGN KEY ("projectId", "operationId")
  REFERENCES "Operation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "WriteTask" ADD CONSTRAINT "WriteTask_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "WriteEntry" ADD CONSTRAINT "WriteEntry_projectId_taskId_fkey" FOREIGN KEY ("projectId", "taskId")
  REFERENCES "WriteTask"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "IdempotencyKey" ADD CONSTRAINT "IdempotencyKey_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "ReadRun" ADD CONSTRAINT "ReadRun_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "ReadRun" ADD CONSTRAINT "ReadRun_projectId_operationId_fkey" FOREIGN KEY ("projectId", "operationId")
  REFERENCES "Operation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "AgentSession" ADD CONSTRAINT "AgentSession_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "AgentSession" ADD CONSTRAINT "AgentSession_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "AgentSession" ADD CONSTRAINT "AgentSession_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "Proposal" ADD CONSTRAINT "Proposal_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "Proposal" ADD CONSTRAINT "Proposal_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Proposal" ADD CONSTRAINT "Proposal_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "ObjectSubscription" ADD CONSTRAINT "ObjectSubscription_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "SubscriptionSecret" ADD CONSTRAINT "SubscriptionSecret_projectId_installationId_objectName_fkey" FOREIGN KEY ("projectId", "installationId", "objectName")
  REFERENCES "ObjectSubscription"("projectId", "installationId", "objectName") ON DELETE CASCADE;
ALTER TABLE "ProviderStream" ADD CONSTRAINT "ProviderStream_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId")
  REFERENCES "Connection"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "ListWebhook" ADD CONSTRAINT "ListWebhook_projectId_id_fkey" FOREIGN KEY ("projectId", id)
  REFERENCES "ProviderStream"("projectId", "connectionId") ON DELETE CASCADE;
ALTER TABLE "ProviderEvent" ADD CONSTRAINT "ProviderEvent_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "SchemaWatch" ADD CONSTRAINT "SchemaWatch_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId")
  REFERENCES "Installation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "LearnedField" ADD CONSTRAINT "LearnedField_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "SetupFailure" ADD CONSTRAINT "SetupFailure_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId")
  REFERENCES "Connection"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_destinationId_fkey" FOREIGN KEY ("projectId", "destinationId")
  REFERENCES "Destination"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId")
  REFERENCES "Installation"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "Topic" ADD CONSTRAINT "Topic_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Destination" ADD CONSTRAINT "Destination_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "EventTopicRoute" ADD CONSTRAINT "EventTopicRoute_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "EventTopicRoute" ADD CONSTRAINT "EventTopicRoute_projectId_topicId_fkey" FOREIGN KEY ("projectId", "topicId")
  REFERENCES "Topic"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "TopicDestinationRoute" ADD CONSTRAINT "TopicDestinationRoute_projectId_destinationId_fkey" FOREIGN KEY ("projectId", "destinationId")
  REFERENCES "Destination"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "TopicDestinationRoute" ADD CONSTRAINT "TopicDestinationRoute_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "TopicDestinationRoute" ADD CONSTRAINT "TopicDestinationRoute_projectId_topicId_fkey" FOREIGN KEY ("projectId", "topicId")
  REFERENCES "Topic"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "EventLog" ADD CONSTRAINT "EventLog_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "NotificationEvent" ADD CONSTRAINT "NotificationEvent_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "NotificationEvent" ADD CONSTRAINT "NotificationEvent_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "NotificationEvent" ADD CONSTRAINT "NotificationEvent_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "NotificationEventTopic" ADD CONSTRAINT "NotificationEventTopic_projectId_eventId_fkey" FOREIGN KEY ("projectId", "eventId")
  REFERENCES "NotificationEvent"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "NotificationEventTopic" ADD CONSTRAINT "NotificationEventTopic_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "StreamLog" ADD CONSTRAINT "StreamLog_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "StreamMessage" ADD CONSTRAINT "StreamMessage_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "StreamMessage" ADD CONSTRAINT "StreamMessage_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "StreamMessage" ADD CONSTRAINT "StreamMessage_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId")
  REFERENCES "Consumer"("projectId", id);
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId")
  REFERENCES "Group"("projectId", id);
ALTER TABLE "DeliveryAttempt" ADD CONSTRAINT "DeliveryAttempt_projectId_deliveryId_fkey" FOREIGN KEY ("projectId", "deliveryId")
  REFERENCES "Delivery"("projectId", id) ON DELETE CASCADE;
ALTER TABLE "ActivityDelta" ADD CONSTRAINT "ActivityDelta_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "ActivityCount" ADD CONSTRAINT "ActivityCount_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;
ALTER TABLE "ActivityHistogram" ADD CONSTRAINT "ActivityHistogram_projectId_fkey" FOREIGN KEY ("projectId")
  REFERENCES "Project"(id) ON DELETE CASCADE;

-- ---------------------------------------------------------------- search words

-- Triggers run on the nodes of a cluster too (docs/decisions/034-citus.md). There, a table is a shard whose name ends in a
-- number, and each statement must name the project. Search is described in docs/decisions/023-search-by-words.md.

-- The texts from each word to the end of the text: "acme corp" and "corp". A sign that is not ASCII counts as a letter, so that
-- no word is cut where the database does not know an alphabet. The collation is named, because a function takes the one of
-- its arguments, and ids have another one.
CREATE FUNCTION "search_words"(texts text[]) RETURNS SETOF text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  whole TEXT;
  word TEXT;
  beginning TEXT;
  start INT;
  seen TEXT[] := '{}';
  starts TEXT[] := '{}';
BEGIN
  FOREACH whole IN ARRAY "texts" LOOP
    whole := lower(whole COLLATE "default");
    CONTINUE WHEN whole IS NULL OR whole = ANY(seen) OR cardinality(starts) >= 40;
    seen := seen || whole;
    start := 1;
    FOREACH word IN ARRAY string_to_array(
      translate(whole, E' \t\n\x0b\f\r!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~', repeat(' ', 38)), ' ')
    LOOP
      beginning := left(substr(whole, start), 64);
      IF word <> '' AND NOT beginning = ANY(starts) THEN starts := starts || beginning; END IF;
      start := start + length(word) + 1;
      EXIT WHEN start > 256 OR cardinality(starts) >= 40;
    END LOOP;
  END LOOP;
  RETURN QUERY SELECT unnest(starts);
END $$;

CREATE FUNCTION "put_search_words"("ofProject" text, "ofKind" text, "ofRow" text, texts text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "word" TEXT;
BEGIN
  DELETE FROM "SearchWord" WHERE "projectId" = "ofProject" AND "rowId" = "ofRow";
  FOR "word" IN SELECT * FROM "search_words"("texts") LOOP
    INSERT INTO "SearchWord" ("projectId", "kind", "sortKey", "rowId")
      VALUES ("ofProject", "ofKind", "word" || ' ' || "ofRow", "ofRow") ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- A connection is found by the names and refs of its group and its consumer.
CREATE FUNCTION "put_connection_words"("ofProject" text, "ofConnection" text, "ofGroup" text, "ofConsumer" text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "texts" TEXT[];
BEGIN
  SELECT ARRAY[g."groupRef", g."groupName", c."consumerRef", c."consumerName"] INTO "texts"
  FROM "Group" g JOIN "Consumer" c ON c."projectId" = g."projectId"
  WHERE g."projectId" = "ofProject" AND g."id" = "ofGroup" AND c."id" = "ofConsumer";
  IF FOUND THEN
    PERFORM "put_search_words"("ofProject", 'Connection', "ofConnection", "texts");
  END IF;
END $$;

-- Its arguments are the columns whose words are searched.
CREATE FUNCTION "follow_names"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "put_search_words"(NEW."projectId", regexp_replace(TG_TABLE_NAME::text, '_\d+$', ''), NEW."id",
    (SELECT array_agg(to_jsonb(NEW) ->> name) FROM unnest(TG_ARGV) name));
  RETURN NULL;
END $$;

CREATE FUNCTION "follow_connection"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "put_connection_words"(NEW."projectId", NEW."id", NEW."groupId", NEW."consumerId");
  RETURN NULL;
END $$;

CREATE FUNCTION "follow_names_of_connections"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "isGroup" BOOLEAN := regexp_replace(TG_TABLE_NAME::text, '_\d+$', '') = 'Group';
  "named" RECORD;
BEGIN
  FOR "named" IN SELECT c."id", c."groupId", c."consumerId" FROM "Connection" c
    WHERE c."projectId" = NEW."projectId" AND CASE WHEN "isGroup" THEN c."groupId" ELSE c."consumerId" END = NEW."id"
  LOOP
    PERFORM "put_connection_words"(NEW."projectId", "named"."id", "named"."groupId", "named"."consumerId");
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION "forget_names"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "SearchWord" WHERE "projectId" = OLD."projectId" AND "rowId" = OLD."id";
  RETURN NULL;
END $$;

CREATE TRIGGER search_words_forget AFTER DELETE ON "Connection" FOR EACH ROW EXECUTE FUNCTION forget_names();
CREATE TRIGGER search_words_put AFTER INSERT ON "Connection" FOR EACH ROW EXECUTE FUNCTION follow_connection();
CREATE TRIGGER search_words_change
  AFTER UPDATE OF "consumerName" ON "Consumer"
  FOR EACH ROW WHEN ((old."consumerName" IS DISTINCT FROM new."consumerName"))
  EXECUTE FUNCTION follow_names('consumerRef', 'consumerName');
CREATE TRIGGER search_words_forget AFTER DELETE ON "Consumer" FOR EACH ROW EXECUTE FUNCTION forget_names();
CREATE TRIGGER search_words_of_connections
  AFTER UPDATE OF "consumerName" ON "Consumer"
  FOR EACH ROW WHEN ((old."consumerName" IS DISTINCT FROM new."consumerName"))
  EXECUTE FUNCTION follow_names_of_connections();
CREATE TRIGGER search_words_put
  AFTER INSERT ON "Consumer"
  FOR EACH ROW
  EXECUTE FUNCTION follow_names('consumerRef', 'consumerName');
CREATE TRIGGER search_words_change
  AFTER UPDATE OF name ON "Destination"
  FOR EACH ROW WHEN ((old.name IS DISTINCT FROM new.name))
  EXECUTE FUNCTION follow_names('name');
CREATE TRIGGER search_words_forget AFTER DELETE ON "Destination" FOR EACH ROW EXECUTE FUNCTION forget_names();
CREATE TRIGGER search_words_put AFTER INSERT ON "Destination" FOR EACH ROW EXECUTE FUNCTION follow_names('name');
CREATE TRIGGER search_words_change
  AFTER UPDATE OF "groupName" ON "Group"
  FOR EACH ROW WHEN ((old."groupName" IS DISTINCT FROM new."groupName"))
  EXECUTE FUNCTION follow_names('groupRef', 'groupName');
CREATE TRIGGER search_words_forget AFTER DELETE ON "Group" FOR EACH ROW EXECUTE FUNCTION forget_names();
CREATE TRIGGER search_words_of_connections
  AFTER UPDATE OF "groupName" ON "Group"
  FOR EACH ROW WHEN ((old."groupName" IS DISTINCT FROM new."groupName"))
  EXECUTE FUNCTION follow_names_of_connections();
CREATE TRIGGER search_words_put
  AFTER INSERT ON "Group"
  FOR EACH ROW
  EXECUTE FUNCTION follow_names('groupRef', 'groupName');
CREATE TRIGGER search_words_forget AFTER DELETE ON "Integration" FOR EACH ROW EXECUTE FUNCTION forget_names();
CREATE TRIGGER search_words_put AFTER INSERT ON "Integration" FOR EACH ROW EXECUTE FUNCTION follow_names('name');
CREATE TRIGGER search_words_change
  AFTER UPDATE OF name ON "Topic"
  FOR EACH ROW WHEN ((old.name IS DISTINCT FROM new.name))
  EXECUTE FUNCTION follow_names('name');
CREATE TRIGGER search_words_forget AFTER DELETE ON "Topic" FOR EACH ROW EXECUTE FUNCTION forget_names();
CREATE TRIGGER search_words_put AFTER INSERT ON "Topic" FOR EACH ROW EXECUTE FUNCTION follow_names('name');

-- ---------------------------------------------------------------- activity

-- A statement that changes counted rows adds deltas, which commit with it: nothing is counted twice or lost, and no statement
-- waits for a count (docs/decisions/024-activity.md).

-- The start of the stored row that has the bucket.
CREATE FUNCTION "activity_block"(grain text, "time" timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql STABLE AS $$
  SELECT date_trunc(CASE "grain" WHEN 'minute' THEN 'hour' WHEN 'hour' THEN 'day' ELSE 'month' END, "time", 'UTC')
$$;

-- The position of a bucket in its row, from 1.
CREATE FUNCTION "activity_position"(grain text, "time" timestamp with time zone) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT CASE "grain"
    WHEN 'minute' THEN extract(minute FROM "time" AT TIME ZONE 'UTC') + 1
    WHEN 'hour' THEN extract(hour FROM "time" AT TIME ZONE 'UTC') + 1
    ELSE extract(day FROM "time" AT TIME ZONE 'UTC')
  END::int
$$;

-- Counts at their positions, and 0 elsewhere.
CREATE FUNCTION "activity_array"(positions integer[], counts integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(v."value", 0) ORDER BY n)
  FROM generate_series(1, (SELECT max(p) FROM unnest("positions") p)) n
  LEFT JOIN unnest("positions", "counts") v("position", "value") ON v."position" = n
$$;

CREATE FUNCTION "activity_sum"(a integer[], b integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(v."a", 0) + coalesce(v."b", 0) ORDER BY v."position")
  FROM unnest("a", "b") WITH ORDINALITY v("a", "b", "position")
$$;

-- The values of `a`, replaced by those of `b` that are not 0.
CREATE FUNCTION "activity_replace"(a integer[], b integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(nullif(v."b", 0), v."a", 0) ORDER BY v."position")
  FROM unnest("a", "b") WITH ORDINALITY v("a", "b", "position")
$$;

-- The step of a duration: four steps for each doubling.
CREATE FUNCTION "activity_bucket"(ms integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT least(63, greatest(0, ceil(4 * ln(greatest("ms", 1)) / ln(2))))::int
$$;

-- The durations in milliseconds that 50, 95 and 99 % of attempts took at most: the ends of steps, so at most a fifth too long.
-- 0 if there were none.
CREATE FUNCTION "activity_percentiles"(durations integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[
    coalesce(min(s."ms") FILTER (WHERE s."seen" * 100 >= s."total" * 50), 0),
    coalesce(min(s."ms") FILTER (WHERE s."seen" * 100 >= s."total" * 95), 0),
    coalesce(min(s."ms") FILTER (WHERE s."seen" * 100 >= s."total" * 99), 0)]
  FROM (
    SELECT round(2 ^ ((v."step" - 1) / 4.0))::int AS "ms", sum(v."count") OVER (ORDER BY v."step") AS "seen",
      sum(v."count") OVER () AS "total"
    FROM unnest("durations") WITH ORDINALITY v("count", "step")
  ) s
  WHERE s."total" > 0
$$;

CREATE FUNCTION "activity_of_new_operations"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", "actionType" || ' ' || "status" AS "key", count(*)
    FROM inserted GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'operation', "counted"."key", "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_operations"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT n."projectId", date_trunc('minute', n."createTime", 'UTC') AS "time", s."key", sum(s."amount") AS "sum"
    FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
    CROSS JOIN LATERAL (VALUES (o."actionType" || ' ' || o."status", -1), (n."actionType" || ' ' || n."status", 1)) s("key", "amount")
    WHERE n."status" <> o."status" GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'operation', "counted"."key", "counted"."sum");
  END LOOP;
  FOR "counted" IN
    SELECT n."projectId", s."key", sum(s."amount") AS "sum"
    FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
    CROSS JOIN LATERAL (VALUES
      ('read', coalesce((n."metadata"->'progress'->>'recordsProcessed')::int, 0)
        - coalesce((o."metadata"->'progress'->>'recordsProcessed')::int, 0)),
      ('written', coalesce(jsonb_array_length(n."metadata"->'successfulRecordIds'), 0)
        - coalesce(jsonb_array_length(o."metadata"->'successfulRecordIds'), 0))
    ) s("key", "amount")
    WHERE n."metadata" <> o."metadata" AND s."amount" > 0 GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", date_trunc('minute', statement_timestamp(), 'UTC'), 'record', "counted"."key", "counted"."sum");
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_attempts"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", array_agg("deliveryId") AS "deliveryIds",
      array_agg("activity_bucket"("durationMs")) AS "buckets", array_agg("error" IS NOT NULL) AS "hasFailed"
    FROM inserted GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "total", "failed")
      SELECT d."projectId", "counted"."time", 'delivery', d."destinationId", a."bucket", count(*), count(*) FILTER (WHERE a."hasFailed")
      FROM unnest("counted"."deliveryIds", "counted"."buckets", "counted"."hasFailed") a("deliveryId", "bucket", "hasFailed")
      JOIN "Delivery" d ON d."projectId" = "counted"."projectId" AND d."id" = a."deliveryId"
      GROUP BY d."projectId", d."destinationId", a."bucket";
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_provider_events"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "receiveTime", 'UTC') AS "time", count(*) FROM inserted GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'record', 'received', "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_stream_messages"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", "destinationId", count(*)
    FROM inserted GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'stream', "counted"."destinationId", "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER activity_insert
  AFTER INSERT ON "DeliveryAttempt" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT
  EXECUTE FUNCTION activity_of_attempts();
CREATE TRIGGER activity_insert
  AFTER INSERT ON "Operation" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT
  EXECUTE FUNCTION activity_of_new_operations();
CREATE TRIGGER activity_update
  AFTER UPDATE ON "Operation" REFERENCING OLD TABLE AS before_update NEW TABLE AS after_update
  FOR EACH STATEMENT
  EXECUTE FUNCTION activity_of_operations();
CREATE TRIGGER activity_insert
  AFTER INSERT ON "ProviderEvent" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT
  EXECUTE FUNCTION activity_of_provider_events();
CREATE TRIGGER activity_insert
  AFTER INSERT ON "StreamMessage" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT
  EXECUTE FUNCTION activity_of_stream_messages();

-- ---------------------------------------------------------------- health

-- Triggers maintain the health of installations (docs/decisions/028-health-is-stored.md).

-- Mappings that a revision requires and only a customer can choose.
CREATE FUNCTION "required_mappings"(content jsonb) RETURNS TABLE("objectName" text, "mapToName" text) LANGUAGE sql IMMUTABLE AS $$
  SELECT spec."value"->>'objectName', field."value"->>'mapToName'
  FROM jsonb_array_elements("content"->'read'->'objects') spec
  CROSS JOIN LATERAL jsonb_array_elements(spec."value"->'requiredFields') field
  WHERE field."value"->>'fieldName' IS NULL AND field."value"->>'default' IS NULL
$$;

-- Required mappings that a config lacks, or null.
CREATE FUNCTION "unmapped_fields"(required jsonb, chosen jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(required."objectName" || ': ' || required."mapToName", ', ')
  FROM "required_mappings"("required") required
  JOIN LATERAL jsonb_array_elements("chosen"->'read') choice ON choice."value"->>'objectName' = required."objectName"
  WHERE choice."value"->>'disabled' = 'false'
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(choice."value"->'fieldMappings') mapping
      WHERE mapping."value"->>'mapToName' = required."mapToName")
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(choice."value"->'dynamicMappings') mapping
      WHERE mapping."value"->>'mapToName' = required."mapToName" AND mapping."value"->>'fieldName' IS NOT NULL)
$$;

-- The human-readable reason why an installation does not work, or null.
CREATE FUNCTION "health_reason"("ofProject" text, "ofInstallation" text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  "state" RECORD;
  "unmapped" TEXT;
  "unsubscribed" TEXT;
BEGIN
  SELECT c."status", r."content" AS "required", g."content" AS "chosen", i."consecutiveFailures" INTO "state"
  FROM "Installation" i
  LEFT JOIN "Connection" c ON c."projectId" = i."projectId" AND c."id" = i."connectionId"
  LEFT JOIN "Integration" n ON n."projectId" = i."projectId" AND n."id" = i."integrationId"
  LEFT JOIN "Revision" r ON r."projectId" = n."projectId" AND r."id" = n."latestRevisionId"
  LEFT JOIN "InstallationConfig" g ON g."projectId" = i."projectId" AND g."id" = i."configId"
  WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation";
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF "state"."status" = 'BAD_CREDENTIALS' THEN
    RETURN 'The provider refuses the credentials of its connection.';
  END IF;
  "unmapped" := "unmapped_fields"("state"."required", "state"."chosen");
  IF "unmapped" IS NOT NULL THEN
    RETURN 'Its config maps no field to what the integration requires: ' || "unmapped" || '. Reads wait.';
  END IF;
  SELECT string_agg(t."objectName" || ': ' || coalesce(t."error", ''), ' ' ORDER BY t."objectName") INTO "unsubscribed"
  FROM "ObjectSubscription" t
  WHERE t."projectId" = "ofProject" AND t."installationId" = "ofInstallation" AND t."isWanted"
    AND t."status" IN ('FAILED', 'UNSUPPORTED');
  IF "unsubscribed" IS NOT NULL THEN
    RETURN 'Its subscriptions do not work: ' || "unsubscribed";
  END IF;
  RETURN CASE WHEN "state"."consecutiveFailures" >= 3 THEN 'Its last 3 operations have failed.' END;
END $$;

-- Locks each installation before it reads what decides the health, so that two changes of it are seen one after the other.
CREATE FUNCTION "refresh_health"("ofProject" text, ids text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "ofInstallation" TEXT;
  "reason" TEXT;
  "time" TIMESTAMPTZ := statement_timestamp();
BEGIN
  PERFORM 1 FROM "Installation" WHERE "projectId" = "ofProject" AND "id" = ANY("ids") ORDER BY "id" FOR NO KEY UPDATE;
  FOREACH "ofInstallation" IN ARRAY "ids" LOOP
    "reason" := "health_reason"("ofProject", "ofInstallation");
    UPDATE "Installation" i
    SET "healthReason" = "reason",
      "healthStatus" = (CASE WHEN "reason" IS NULL THEN 'HEALTHY' ELSE 'UNHEALTHY' END)::"InstallationHealth",
      "unhealthySince" = CASE WHEN "reason" IS NULL OR i."healthStatus" = 'UNHEALTHY' THEN i."unhealthySince" ELSE "time" END
    WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation" AND i."healthReason" IS DISTINCT FROM "reason";
  END LOOP;
END $$;

-- `failures` operations have failed since the last success. Locks an installation only if its count changes.
CREATE FUNCTION "count_failures"("ofProject" text, "ofInstallation" text, "hasSucceeded" boolean, failures integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "isDecided" BOOLEAN;
BEGIN
  UPDATE "Installation" i
  SET "consecutiveFailures" = least(3, "failures" + CASE WHEN "hasSucceeded" THEN 0 ELSE i."consecutiveFailures" END)
  WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation"
    AND i."consecutiveFailures" <> least(3, "failures" + CASE WHEN "hasSucceeded" THEN 0 ELSE i."consecutiveFailures" END)
  RETURNING i."consecutiveFailures" = 3 OR i."healthStatus" = 'UNHEALTHY' INTO "isDecided";
  IF "isDecided" THEN
    PERFORM "refresh_health"("ofProject", ARRAY["ofInstallation"]);
  END IF;
END $$;

CREATE FUNCTION "health_of_operation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "count_failures"(NEW."projectId", NEW."installationId", NEW."status" = 'SUCCESS', (NEW."status" = 'FAILURE')::int);
  RETURN NULL;
END $$;

-- Most ends change no count, because the installation works or has failed for long. The first loop finds this by key.
CREATE FUNCTION "health_of_ended_operations"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "ended" RECORD;
  "isChanged" BOOLEAN := FALSE;
BEGIN
  FOR "ended" IN
    SELECT DISTINCT "projectId", "installationId", "status" FROM after_update WHERE "status" <> 'IN_PROGRESS'
  LOOP
    PERFORM 1 FROM "Installation" i
    WHERE i."projectId" = "ended"."projectId" AND i."id" = "ended"."installationId"
      AND i."consecutiveFailures" <> CASE "ended"."status" WHEN 'SUCCESS' THEN 0 ELSE 3 END;
    "isChanged" := FOUND;
    EXIT WHEN "isChanged";
  END LOOP;
  IF NOT "isChanged" THEN
    RETURN NULL;
  END IF;
  PERFORM "count_failures"(e."projectId", e."installationId", e."lastSuccess" IS NOT NULL, e."failures")
  FROM (
    SELECT "projectId", "installationId", "lastSuccess",
      (count(*) FILTER (WHERE "status" = 'FAILURE' AND "id" > coalesce("lastSuccess", '')))::int AS "failures"
    FROM (
      SELECT n."projectId", n."installationId", n."status", n."id",
        max(n."id") FILTER (WHERE n."status" = 'SUCCESS') OVER (PARTITION BY n."projectId", n."installationId") AS "lastSuccess"
      FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
      WHERE n."status" <> o."status" AND n."status" <> 'IN_PROGRESS'
    ) ended
    GROUP BY 1, 2, 3
    ORDER BY 2
  ) e;
  RETURN NULL;
END $$;

CREATE FUNCTION "health_of_connection"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "ids" TEXT[];
BEGIN
  SELECT array_agg("id") INTO "ids" FROM "Installation" WHERE "projectId" = NEW."projectId" AND "connectionId" = NEW."id";
  PERFORM "refresh_health"(NEW."projectId", coalesce("ids", '{}'));
  RETURN NULL;
END $$;

-- Locks the connection, so that its status cannot change unseen.
CREATE FUNCTION "health_of_installation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "Connection" WHERE "projectId" = NEW."projectId" AND "id" = NEW."connectionId" FOR SHARE;
  PERFORM "refresh_health"(NEW."projectId", ARRAY[NEW."id"]);
  RETURN NULL;
END $$;

CREATE FUNCTION "health_of_config"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "Installation" i
  WHERE i."projectId" = NEW."projectId" AND i."id" = NEW."installationId" AND i."configId" = NEW."id";
  IF FOUND THEN
    PERFORM "refresh_health"(NEW."projectId", ARRAY[NEW."installationId"]);
  END IF;
  RETURN NULL;
END $$;

-- If nothing has to be mapped, only unhealthy installations can change.
CREATE FUNCTION "health_of_integration"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "ids" TEXT[];
  "isRequiring" BOOLEAN;
BEGIN
  PERFORM 1 FROM "Revision" r CROSS JOIN LATERAL "required_mappings"(r."content")
  WHERE r."projectId" = NEW."projectId" AND r."id" = NEW."latestRevisionId";
  "isRequiring" := FOUND;
  SELECT array_agg(i."id") INTO "ids" FROM "Installation" i
  WHERE i."projectId" = NEW."projectId" AND i."integrationId" = NEW."id" AND ("isRequiring" OR i."healthStatus" = 'UNHEALTHY');
  PERFORM "refresh_health"(NEW."projectId", coalesce("ids", '{}'));
  RETURN NULL;
END $$;

CREATE FUNCTION "health_of_subscription"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "changed" "ObjectSubscription" := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
  PERFORM "refresh_health"("changed"."projectId", ARRAY["changed"."installationId"]);
  RETURN NULL;
END $$;

CREATE TRIGGER health_update
  AFTER UPDATE OF status ON "Connection"
  FOR EACH ROW WHEN (((old.status = 'BAD_CREDENTIALS'::"ConnectionStatus") <> (new.status = 'BAD_CREDENTIALS'::"ConnectionStatus")))
  EXECUTE FUNCTION health_of_connection();
CREATE TRIGGER health_insert AFTER INSERT ON "Installation" FOR EACH ROW EXECUTE FUNCTION health_of_installation();
CREATE TRIGGER health_update
  AFTER UPDATE OF "connectionId", "configId" ON "Installation"
  FOR EACH ROW WHEN (((old."connectionId" <> new."connectionId") OR (old."configId" <> new."configId")))
  EXECUTE FUNCTION health_of_installation();
CREATE TRIGGER health_insert AFTER INSERT ON "InstallationConfig" FOR EACH ROW EXECUTE FUNCTION health_of_config();
CREATE TRIGGER health_update
  AFTER UPDATE OF "latestRevisionId" ON "Integration"
  FOR EACH ROW WHEN ((old."latestRevisionId" <> new."latestRevisionId"))
  EXECUTE FUNCTION health_of_integration();
CREATE TRIGGER health_delete
  AFTER DELETE ON "ObjectSubscription"
  FOR EACH ROW WHEN ((old."isWanted" AND (old.status = ANY (ARRAY['FAILED'::"SubscriptionStatus", 'UNSUPPORTED'::"SubscriptionStatus"]))))
  EXECUTE FUNCTION health_of_subscription();
CREATE TRIGGER health_insert
  AFTER INSERT ON "ObjectSubscription"
  FOR EACH ROW WHEN ((new."isWanted" AND (new.status = ANY (ARRAY['FAILED'::"SubscriptionStatus", 'UNSUPPORTED'::"SubscriptionStatus"]))))
  EXECUTE FUNCTION health_of_subscription();
CREATE TRIGGER health_update
  AFTER UPDATE OF "isWanted", status, error ON "ObjectSubscription"
  FOR EACH ROW WHEN (((old."isWanted" <> new."isWanted") OR (old.status <> new.status) OR (old.error IS DISTINCT FROM new.error)))
  EXECUTE FUNCTION health_of_subscription();
CREATE TRIGGER health_insert
  AFTER INSERT ON "Operation"
  FOR EACH ROW WHEN ((new.status <> 'IN_PROGRESS'::"OperationStatus"))
  EXECUTE FUNCTION health_of_operation();
CREATE TRIGGER health_update
  AFTER UPDATE ON "Operation" REFERENCING OLD TABLE AS before_update NEW TABLE AS after_update
  FOR EACH STATEMENT
  EXECUTE FUNCTION health_of_ended_operations();
