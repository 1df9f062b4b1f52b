-- CreateTable
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

    CONSTRAINT "SubscriptionSecret_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "SubscriptionSecret_projectId_installationId_objectName_idx" ON "SubscriptionSecret"("projectId", "installationId", "objectName");

-- AddForeignKey
ALTER TABLE "SubscriptionSecret" ADD CONSTRAINT "SubscriptionSecret_projectId_installationId_objectName_fkey" FOREIGN KEY ("projectId", "installationId", "objectName") REFERENCES "ObjectSubscription"("projectId", "installationId", "objectName") ON DELETE CASCADE ON UPDATE NO ACTION;
