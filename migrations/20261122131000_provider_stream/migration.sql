-- CreateTable
CREATE TABLE "ProviderStream" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "connectionId" TEXT COLLATE "C" NOT NULL,
    "provider" TEXT NOT NULL,
    "status" "SubscriptionStatus" NOT NULL DEFAULT 'PENDING',
    "error" TEXT,
    "position" TEXT,
    "knownTime" TIMESTAMPTZ(3),
    "dueTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "leaseExpireTime" TIMESTAMPTZ(3),
    "leaseToken" TEXT,

    CONSTRAINT "ProviderStream_pkey" PRIMARY KEY ("projectId","connectionId")
);

-- CreateIndex
CREATE INDEX "ProviderStream_dueTime_idx" ON "ProviderStream"("dueTime");

-- CreateIndex
CREATE INDEX "ObjectSubscription_projectId_connectionId_idx" ON "ObjectSubscription"("projectId", "connectionId");

-- AddForeignKey
ALTER TABLE "ProviderStream" ADD CONSTRAINT "ProviderStream_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId") REFERENCES "Connection"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
