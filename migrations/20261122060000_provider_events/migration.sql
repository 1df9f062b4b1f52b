-- CreateEnum
CREATE TYPE "SubscriptionStatus" AS ENUM ('PENDING', 'ACTIVE', 'FAILED', 'UNSUPPORTED');

-- CreateEnum
CREATE TYPE "ProviderEventKind" AS ENUM ('CREATE', 'UPDATE', 'DELETE', 'ASSOCIATION_UPDATE', 'OTHER');

-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "afterId" TEXT COLLATE "C",
ADD COLUMN     "orderKey" TEXT;

-- AlterTable
ALTER TABLE "ProviderApp" ADD COLUMN     "previousWebhookSecretExpireTime" TIMESTAMPTZ(3),
ADD COLUMN     "previousWebhookSecretSealed" TEXT,
ADD COLUMN     "webhookSecretSealed" TEXT;

-- CreateTable
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
    "madeFor" TEXT,
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

    CONSTRAINT "ObjectSubscription_pkey" PRIMARY KEY ("projectId","installationId","objectName")
);

-- CreateTable
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

    CONSTRAINT "ProviderEvent_pkey" PRIMARY KEY ("projectId","installationId","objectName","nativeId")
);

-- CreateIndex
CREATE INDEX "ObjectSubscription_dueTime_idx" ON "ObjectSubscription"("dueTime") WHERE ("dueTime" IS NOT NULL);

-- CreateIndex
CREATE INDEX "ObjectSubscription_projectId_providerAppId_account_objectNa_idx" ON "ObjectSubscription"("projectId", "providerAppId", "account", "objectName");

-- CreateIndex
CREATE INDEX "ProviderEvent_projectId_installationId_objectName_eventTime_idx" ON "ProviderEvent"("projectId", "installationId", "objectName", "eventTime", "arrival") WHERE ("doneTime" IS NULL);

-- CreateIndex
CREATE INDEX "ProviderEvent_receiveTime_idx" ON "ProviderEvent"("receiveTime");

-- CreateIndex
CREATE INDEX "Delivery_destinationId_orderKey_id_idx" ON "Delivery"("destinationId", "orderKey", "id") WHERE ("orderKey" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Delivery_afterId_idx" ON "Delivery"("afterId") WHERE ("afterId" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "ObjectSubscription" ADD CONSTRAINT "ObjectSubscription_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ProviderEvent" ADD CONSTRAINT "ProviderEvent_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;
