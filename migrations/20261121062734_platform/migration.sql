-- CreateEnum
CREATE TYPE "InviteStatus" AS ENUM ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "AuthScheme" AS ENUM ('NONE', 'API_KEY', 'BASIC', 'OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE', 'OAUTH2_CLIENT_CREDENTIALS', 'OAUTH2_PASSWORD');

-- CreateEnum
CREATE TYPE "ConnectionStatus" AS ENUM ('CREATED', 'WORKING', 'BAD_CREDENTIALS');

-- CreateEnum
CREATE TYPE "OperationActionType" AS ENUM ('READ', 'WRITE', 'SUBSCRIBE');

-- CreateEnum
CREATE TYPE "OperationStatus" AS ENUM ('IN_PROGRESS', 'SUCCESS', 'FAILURE');

-- CreateEnum
CREATE TYPE "LogSeverity" AS ENUM ('DEBUG', 'INFO', 'WARNING', 'ERROR');

-- CreateEnum
CREATE TYPE "WriteType" AS ENUM ('CREATE', 'UPDATE', 'DELETE');

-- CreateEnum
CREATE TYPE "WriteMode" AS ENUM ('SYNCHRONOUS', 'ASYNCHRONOUS');

-- CreateEnum
CREATE TYPE "ReadType" AS ENUM ('BACKFILL', 'SCHEDULED', 'TRIGGERED');

-- CreateEnum
CREATE TYPE "NotificationEventType" AS ENUM ('READ_BACKFILL_DONE', 'READ_SCHEDULE_PAUSED', 'READ_TRIGGERED_DONE', 'READ_TRIGGERED_ERROR', 'WRITE_ASYNC_DONE', 'CONNECTION_CREATED', 'CONNECTION_UPDATED', 'CONNECTION_REFRESHED', 'CONNECTION_ERROR', 'CONNECTION_DELETED', 'INSTALLATION_CREATED', 'INSTALLATION_UPDATED', 'INSTALLATION_DELETED', 'SUBSCRIBE_CREATE_ERROR', 'DESTINATION_WEBHOOK_DISABLED');

-- CreateEnum
CREATE TYPE "DestinationType" AS ENUM ('WEBHOOK');

-- CreateEnum
CREATE TYPE "DestinationStatus" AS ENUM ('ENABLED', 'DISABLED');

-- CreateEnum
CREATE TYPE "DeliveryStatus" AS ENUM ('PENDING', 'SUCCEEDED', 'FAILED');

-- CreateTable
CREATE TABLE "Org" (
    "id" TEXT COLLATE "C" NOT NULL,
    "label" TEXT NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Org_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "Builder_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OrgMember" (
    "orgId" TEXT COLLATE "C" NOT NULL,
    "builderId" TEXT COLLATE "C" NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "OrgMember_pkey" PRIMARY KEY ("orgId","builderId")
);

-- CreateTable
CREATE TABLE "BillingAccount" (
    "id" TEXT COLLATE "C" NOT NULL,
    "orgId" TEXT COLLATE "C" NOT NULL,
    "displayName" TEXT NOT NULL,
    "billingProvider" TEXT NOT NULL,
    "billingProviderRef" TEXT NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "BillingAccount_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Invite" (
    "id" TEXT COLLATE "C" NOT NULL,
    "orgId" TEXT COLLATE "C" NOT NULL,
    "invitedEmail" TEXT NOT NULL,
    "status" "InviteStatus" NOT NULL,
    "pendingEmail" TEXT,
    "expireTime" TIMESTAMPTZ(3) NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Invite_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ClaimedDomain" (
    "id" TEXT COLLATE "C" NOT NULL,
    "domain" TEXT NOT NULL,
    "orgId" TEXT COLLATE "C" NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ClaimedDomain_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Project" (
    "id" TEXT COLLATE "C" NOT NULL,
    "orgId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "appName" TEXT NOT NULL,
    "brandingRemoval" BOOLEAN NOT NULL DEFAULT false,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "ApiKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "ProviderApp_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Group" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "groupRef" TEXT NOT NULL,
    "groupName" TEXT NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Consumer" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "consumerRef" TEXT NOT NULL,
    "consumerName" TEXT NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Consumer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "refreshRetryTime" TIMESTAMPTZ(3),
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Connection_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "OAuthConnect_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Integration" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "latestRevisionId" TEXT COLLATE "C" NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Integration_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Revision" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "integrationId" TEXT COLLATE "C" NOT NULL,
    "specVersion" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Revision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "Installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "InstallationConfig" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "installationId" TEXT COLLATE "C" NOT NULL,
    "content" JSONB NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "InstallationConfig_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "failedRuns" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "InstalledObject_pkey" PRIMARY KEY ("installationId","objectName")
);

-- CreateTable
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

    CONSTRAINT "Operation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OperationLog" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "operationId" TEXT COLLATE "C" NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "severity" "LogSeverity" NOT NULL,
    "message" TEXT NOT NULL,
    "details" JSONB,

    CONSTRAINT "OperationLog_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "WriteTask" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "installationId" TEXT COLLATE "C" NOT NULL,
    "objectName" TEXT NOT NULL,
    "type" "WriteType" NOT NULL,
    "mode" "WriteMode" NOT NULL,
    "allOrNone" BOOLEAN NOT NULL DEFAULT false,
    "headers" JSONB,
    "openGroup" TEXT,
    "recordCount" INTEGER NOT NULL,
    "dueTime" TIMESTAMPTZ(3),
    "leaseExpireTime" TIMESTAMPTZ(3),
    "leaseToken" TEXT,
    "isUncertain" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "lastAttempt" TIMESTAMPTZ(3),
    "deadlineTime" TIMESTAMPTZ(3) NOT NULL,
    "endTime" TIMESTAMPTZ(3),
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "WriteTask_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "WriteEntry" (
    "taskId" TEXT COLLATE "C" NOT NULL,
    "position" INTEGER NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "operationId" TEXT COLLATE "C" NOT NULL,
    "record" JSONB NOT NULL,
    "associations" JSONB,
    "outcome" JSONB,

    CONSTRAINT "WriteEntry_pkey" PRIMARY KEY ("taskId","position")
);

-- CreateTable
CREATE TABLE "IdempotencyKey" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "key" TEXT NOT NULL,
    "inputHash" TEXT NOT NULL,
    "operationId" TEXT COLLATE "C" NOT NULL,
    "expireTime" TIMESTAMPTZ(3) NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "IdempotencyKey_pkey" PRIMARY KEY ("projectId","key")
);

-- CreateTable
CREATE TABLE "ReadRun" (
    "operationId" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "installationId" TEXT COLLATE "C" NOT NULL,
    "objectName" TEXT NOT NULL,
    "readType" "ReadType" NOT NULL,
    "since" TIMESTAMPTZ(3),
    "until" TIMESTAMPTZ(3),
    "position" TIMESTAMPTZ(3),
    "cursor" TEXT,
    "planKey" TEXT,
    "pagesRead" INTEGER NOT NULL DEFAULT 0,
    "recordsRead" INTEGER NOT NULL DEFAULT 0,
    "estimatedTotal" INTEGER,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "restarts" INTEGER NOT NULL DEFAULT 0,
    "dueTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leaseToken" TEXT,

    CONSTRAINT "ReadRun_pkey" PRIMARY KEY ("operationId")
);

-- CreateTable
CREATE TABLE "Topic" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Topic_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Destination" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "type" "DestinationType" NOT NULL,
    "url" TEXT NOT NULL,
    "headers" JSONB,
    "status" "DestinationStatus" NOT NULL DEFAULT 'ENABLED',
    "disabledReason" TEXT,
    "signingSecretSealed" TEXT NOT NULL,
    "previousSecretSealed" TEXT,
    "previousSecretExpireTime" TIMESTAMPTZ(3),
    "failingSince" TIMESTAMPTZ(3),
    "failedAttempts" INTEGER NOT NULL DEFAULT 0,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Destination_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EventTopicRoute" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "eventType" "NotificationEventType" NOT NULL,
    "topicId" TEXT COLLATE "C" NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "EventTopicRoute_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "TopicDestinationRoute" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "topicId" TEXT COLLATE "C" NOT NULL,
    "destinationId" TEXT COLLATE "C" NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "TopicDestinationRoute_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EventLog" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "lastPosition" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "EventLog_pkey" PRIMARY KEY ("projectId")
);

-- CreateTable
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

    CONSTRAINT "NotificationEvent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "NotificationEventTopic" (
    "eventId" TEXT COLLATE "C" NOT NULL,
    "topicId" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "position" BIGINT NOT NULL,
    "eventType" "NotificationEventType" NOT NULL,

    CONSTRAINT "NotificationEventTopic_pkey" PRIMARY KEY ("eventId","topicId")
);

-- CreateTable
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
    "nextAttemptTime" TIMESTAMPTZ(3),
    "leaseExpireTime" TIMESTAMPTZ(3),
    "leaseToken" TEXT,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "DeliveryAttempt" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "deliveryId" TEXT COLLATE "C" NOT NULL,
    "attemptNumber" INTEGER NOT NULL,
    "responseStatus" INTEGER,
    "error" TEXT,
    "durationMs" INTEGER NOT NULL,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Builder_idpProvider_idpRef_key" ON "Builder"("idpProvider", "idpRef");

-- CreateIndex
CREATE INDEX "OrgMember_builderId_orgId_idx" ON "OrgMember"("builderId", "orgId");

-- CreateIndex
CREATE UNIQUE INDEX "BillingAccount_orgId_key" ON "BillingAccount"("orgId");

-- CreateIndex
CREATE INDEX "Invite_orgId_id_idx" ON "Invite"("orgId", "id");

-- CreateIndex
CREATE INDEX "Invite_orgId_status_id_idx" ON "Invite"("orgId", "status", "id");

-- CreateIndex
CREATE INDEX "Invite_pendingEmail_id_idx" ON "Invite"("pendingEmail", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Invite_orgId_pendingEmail_key" ON "Invite"("orgId", "pendingEmail");

-- CreateIndex
CREATE UNIQUE INDEX "ClaimedDomain_domain_key" ON "ClaimedDomain"("domain");

-- CreateIndex
CREATE INDEX "ClaimedDomain_orgId_id_idx" ON "ClaimedDomain"("orgId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Project_name_key" ON "Project"("name");

-- CreateIndex
CREATE INDEX "Project_orgId_id_idx" ON "Project"("orgId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ApiKey_hash_key" ON "ApiKey"("hash");

-- CreateIndex
CREATE INDEX "ApiKey_projectId_active_id_idx" ON "ApiKey"("projectId", "active", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ApiKey_projectId_id_key" ON "ApiKey"("projectId", "id");

-- CreateIndex
CREATE INDEX "ProviderApp_projectId_provider_id_idx" ON "ProviderApp"("projectId", "provider", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ProviderApp_projectId_id_key" ON "ProviderApp"("projectId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Group_projectId_groupRef_key" ON "Group"("projectId", "groupRef");

-- CreateIndex
CREATE UNIQUE INDEX "Group_projectId_id_key" ON "Group"("projectId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Consumer_projectId_consumerRef_key" ON "Consumer"("projectId", "consumerRef");

-- CreateIndex
CREATE UNIQUE INDEX "Consumer_projectId_id_key" ON "Consumer"("projectId", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_groupId_id_idx" ON "Connection"("projectId", "groupId", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_consumerId_id_idx" ON "Connection"("projectId", "consumerId", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_provider_id_idx" ON "Connection"("projectId", "provider", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_status_id_idx" ON "Connection"("projectId", "status", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_providerAppId_idx" ON "Connection"("projectId", "providerAppId");

-- CreateIndex
CREATE INDEX "Connection_tokenExpireTime_idx" ON "Connection"("tokenExpireTime");

-- CreateIndex
CREATE UNIQUE INDEX "Connection_projectId_provider_groupId_consumerId_key" ON "Connection"("projectId", "provider", "groupId", "consumerId");

-- CreateIndex
CREATE UNIQUE INDEX "Connection_projectId_id_key" ON "Connection"("projectId", "id");

-- CreateIndex
CREATE INDEX "OAuthConnect_projectId_expireTime_idx" ON "OAuthConnect"("projectId", "expireTime");

-- CreateIndex
CREATE INDEX "OAuthConnect_projectId_providerAppId_idx" ON "OAuthConnect"("projectId", "providerAppId");

-- CreateIndex
CREATE INDEX "OAuthConnect_expireTime_idx" ON "OAuthConnect"("expireTime");

-- CreateIndex
CREATE INDEX "Integration_projectId_provider_id_idx" ON "Integration"("projectId", "provider", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Integration_projectId_name_key" ON "Integration"("projectId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "Integration_projectId_id_key" ON "Integration"("projectId", "id");

-- CreateIndex
CREATE INDEX "Revision_integrationId_id_idx" ON "Revision"("integrationId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Revision_projectId_id_key" ON "Revision"("projectId", "id");

-- CreateIndex
CREATE INDEX "Installation_projectId_groupId_id_idx" ON "Installation"("projectId", "groupId", "id");

-- CreateIndex
CREATE INDEX "Installation_integrationId_id_idx" ON "Installation"("integrationId", "id");

-- CreateIndex
CREATE INDEX "Installation_connectionId_idx" ON "Installation"("connectionId");

-- CreateIndex
CREATE UNIQUE INDEX "Installation_integrationId_groupId_key" ON "Installation"("integrationId", "groupId");

-- CreateIndex
CREATE UNIQUE INDEX "Installation_projectId_id_key" ON "Installation"("projectId", "id");

-- CreateIndex
CREATE INDEX "InstallationConfig_installationId_idx" ON "InstallationConfig"("installationId");

-- CreateIndex
CREATE UNIQUE INDEX "InstallationConfig_projectId_id_key" ON "InstallationConfig"("projectId", "id");

-- CreateIndex
CREATE INDEX "InstalledObject_nextReadTime_idx" ON "InstalledObject"("nextReadTime");

-- CreateIndex
CREATE INDEX "Operation_projectId_status_id_idx" ON "Operation"("projectId", "status", "id");

-- CreateIndex
CREATE INDEX "Operation_projectId_actionType_id_idx" ON "Operation"("projectId", "actionType", "id");

-- CreateIndex
CREATE INDEX "Operation_projectId_status_actionType_id_idx" ON "Operation"("projectId", "status", "actionType", "id");

-- CreateIndex
CREATE INDEX "Operation_installationId_id_idx" ON "Operation"("installationId", "id");

-- CreateIndex
CREATE INDEX "Operation_installationId_status_id_idx" ON "Operation"("installationId", "status", "id");

-- CreateIndex
CREATE INDEX "Operation_installationId_actionType_id_idx" ON "Operation"("installationId", "actionType", "id");

-- CreateIndex
CREATE INDEX "Operation_createTime_idx" ON "Operation"("createTime");

-- CreateIndex
CREATE UNIQUE INDEX "Operation_projectId_id_key" ON "Operation"("projectId", "id");

-- CreateIndex
CREATE INDEX "OperationLog_operationId_id_idx" ON "OperationLog"("operationId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "WriteTask_openGroup_key" ON "WriteTask"("openGroup");

-- CreateIndex
CREATE INDEX "WriteTask_dueTime_idx" ON "WriteTask"("dueTime") WHERE ("dueTime" IS NOT NULL);

-- CreateIndex
CREATE INDEX "WriteTask_endTime_idx" ON "WriteTask"("endTime") WHERE ("endTime" IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "WriteTask_projectId_id_key" ON "WriteTask"("projectId", "id");

-- CreateIndex
CREATE INDEX "WriteEntry_operationId_position_idx" ON "WriteEntry"("operationId", "position");

-- CreateIndex
CREATE INDEX "IdempotencyKey_expireTime_idx" ON "IdempotencyKey"("expireTime");

-- CreateIndex
CREATE INDEX "ReadRun_dueTime_idx" ON "ReadRun"("dueTime");

-- CreateIndex
CREATE INDEX "ReadRun_installationId_objectName_idx" ON "ReadRun"("installationId", "objectName");

-- CreateIndex
CREATE INDEX "ReadRun_projectId_readType_idx" ON "ReadRun"("projectId", "readType");

-- CreateIndex
CREATE UNIQUE INDEX "ReadRun_projectId_operationId_key" ON "ReadRun"("projectId", "operationId");

-- CreateIndex
CREATE UNIQUE INDEX "Topic_projectId_name_key" ON "Topic"("projectId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "Topic_projectId_id_key" ON "Topic"("projectId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Destination_projectId_name_key" ON "Destination"("projectId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "Destination_projectId_id_key" ON "Destination"("projectId", "id");

-- CreateIndex
CREATE INDEX "EventTopicRoute_projectId_eventType_id_idx" ON "EventTopicRoute"("projectId", "eventType", "id");

-- CreateIndex
CREATE INDEX "EventTopicRoute_topicId_id_idx" ON "EventTopicRoute"("topicId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "EventTopicRoute_projectId_eventType_topicId_key" ON "EventTopicRoute"("projectId", "eventType", "topicId");

-- CreateIndex
CREATE UNIQUE INDEX "EventTopicRoute_projectId_id_key" ON "EventTopicRoute"("projectId", "id");

-- CreateIndex
CREATE INDEX "TopicDestinationRoute_topicId_id_idx" ON "TopicDestinationRoute"("topicId", "id");

-- CreateIndex
CREATE INDEX "TopicDestinationRoute_destinationId_id_idx" ON "TopicDestinationRoute"("destinationId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "TopicDestinationRoute_projectId_topicId_destinationId_key" ON "TopicDestinationRoute"("projectId", "topicId", "destinationId");

-- CreateIndex
CREATE UNIQUE INDEX "TopicDestinationRoute_projectId_id_key" ON "TopicDestinationRoute"("projectId", "id");

-- CreateIndex
CREATE INDEX "NotificationEvent_projectId_eventType_position_idx" ON "NotificationEvent"("projectId", "eventType", "position");

-- CreateIndex
CREATE INDEX "NotificationEvent_createTime_idx" ON "NotificationEvent"("createTime");

-- CreateIndex
CREATE UNIQUE INDEX "NotificationEvent_projectId_position_key" ON "NotificationEvent"("projectId", "position");

-- CreateIndex
CREATE UNIQUE INDEX "NotificationEvent_projectId_id_key" ON "NotificationEvent"("projectId", "id");

-- CreateIndex
CREATE INDEX "NotificationEventTopic_projectId_topicId_position_idx" ON "NotificationEventTopic"("projectId", "topicId", "position");

-- CreateIndex
CREATE INDEX "NotificationEventTopic_projectId_topicId_eventType_position_idx" ON "NotificationEventTopic"("projectId", "topicId", "eventType", "position");

-- CreateIndex
CREATE INDEX "Delivery_destinationId_id_idx" ON "Delivery"("destinationId", "id");

-- CreateIndex
CREATE INDEX "Delivery_destinationId_status_id_idx" ON "Delivery"("destinationId", "status", "id");

-- CreateIndex
CREATE INDEX "Delivery_eventId_id_idx" ON "Delivery"("eventId", "id");

-- CreateIndex
CREATE INDEX "Delivery_destinationId_nextAttemptTime_idx" ON "Delivery"("destinationId", "nextAttemptTime") WHERE ("nextAttemptTime" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Delivery_createTime_idx" ON "Delivery"("createTime");

-- CreateIndex
CREATE UNIQUE INDEX "Delivery_projectId_id_key" ON "Delivery"("projectId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "DeliveryAttempt_deliveryId_attemptNumber_key" ON "DeliveryAttempt"("deliveryId", "attemptNumber");

-- AddForeignKey
ALTER TABLE "OrgMember" ADD CONSTRAINT "OrgMember_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Org"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrgMember" ADD CONSTRAINT "OrgMember_builderId_fkey" FOREIGN KEY ("builderId") REFERENCES "Builder"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "BillingAccount" ADD CONSTRAINT "BillingAccount_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Org"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invite" ADD CONSTRAINT "Invite_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Org"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ClaimedDomain" ADD CONSTRAINT "ClaimedDomain_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Org"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Project" ADD CONSTRAINT "Project_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Org"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApiKey" ADD CONSTRAINT "ApiKey_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ProviderApp" ADD CONSTRAINT "ProviderApp_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Group" ADD CONSTRAINT "Group_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Consumer" ADD CONSTRAINT "Consumer_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Connection" ADD CONSTRAINT "Connection_projectId_providerAppId_fkey" FOREIGN KEY ("projectId", "providerAppId") REFERENCES "ProviderApp"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "OAuthConnect" ADD CONSTRAINT "OAuthConnect_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OAuthConnect" ADD CONSTRAINT "OAuthConnect_projectId_providerAppId_fkey" FOREIGN KEY ("projectId", "providerAppId") REFERENCES "ProviderApp"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Integration" ADD CONSTRAINT "Integration_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Revision" ADD CONSTRAINT "Revision_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Revision" ADD CONSTRAINT "Revision_projectId_integrationId_fkey" FOREIGN KEY ("projectId", "integrationId") REFERENCES "Integration"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_integrationId_fkey" FOREIGN KEY ("projectId", "integrationId") REFERENCES "Integration"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Installation" ADD CONSTRAINT "Installation_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId") REFERENCES "Connection"("projectId", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InstallationConfig" ADD CONSTRAINT "InstallationConfig_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InstallationConfig" ADD CONSTRAINT "InstallationConfig_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId") REFERENCES "Installation"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InstalledObject" ADD CONSTRAINT "InstalledObject_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InstalledObject" ADD CONSTRAINT "InstalledObject_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId") REFERENCES "Installation"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Operation" ADD CONSTRAINT "Operation_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OperationLog" ADD CONSTRAINT "OperationLog_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OperationLog" ADD CONSTRAINT "OperationLog_projectId_operationId_fkey" FOREIGN KEY ("projectId", "operationId") REFERENCES "Operation"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "WriteTask" ADD CONSTRAINT "WriteTask_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "WriteEntry" ADD CONSTRAINT "WriteEntry_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "WriteEntry" ADD CONSTRAINT "WriteEntry_projectId_taskId_fkey" FOREIGN KEY ("projectId", "taskId") REFERENCES "WriteTask"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IdempotencyKey" ADD CONSTRAINT "IdempotencyKey_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ReadRun" ADD CONSTRAINT "ReadRun_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ReadRun" ADD CONSTRAINT "ReadRun_projectId_operationId_fkey" FOREIGN KEY ("projectId", "operationId") REFERENCES "Operation"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Topic" ADD CONSTRAINT "Topic_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Destination" ADD CONSTRAINT "Destination_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EventTopicRoute" ADD CONSTRAINT "EventTopicRoute_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EventTopicRoute" ADD CONSTRAINT "EventTopicRoute_projectId_topicId_fkey" FOREIGN KEY ("projectId", "topicId") REFERENCES "Topic"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TopicDestinationRoute" ADD CONSTRAINT "TopicDestinationRoute_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TopicDestinationRoute" ADD CONSTRAINT "TopicDestinationRoute_projectId_topicId_fkey" FOREIGN KEY ("projectId", "topicId") REFERENCES "Topic"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TopicDestinationRoute" ADD CONSTRAINT "TopicDestinationRoute_projectId_destinationId_fkey" FOREIGN KEY ("projectId", "destinationId") REFERENCES "Destination"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EventLog" ADD CONSTRAINT "EventLog_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "NotificationEvent" ADD CONSTRAINT "NotificationEvent_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "NotificationEventTopic" ADD CONSTRAINT "NotificationEventTopic_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "NotificationEventTopic" ADD CONSTRAINT "NotificationEventTopic_projectId_eventId_fkey" FOREIGN KEY ("projectId", "eventId") REFERENCES "NotificationEvent"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DeliveryAttempt" ADD CONSTRAINT "DeliveryAttempt_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DeliveryAttempt" ADD CONSTRAINT "DeliveryAttempt_projectId_deliveryId_fkey" FOREIGN KEY ("projectId", "deliveryId") REFERENCES "Delivery"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;
