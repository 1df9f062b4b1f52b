-- CreateTable
CREATE TABLE "SchemaWatch" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "installationId" TEXT COLLATE "C" NOT NULL,
    "connectionId" TEXT COLLATE "C",
    "known" JSONB NOT NULL DEFAULT '{}',
    "dueTime" TIMESTAMPTZ(3) NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "leaseExpireTime" TIMESTAMPTZ(3),
    "leaseToken" TEXT,

    CONSTRAINT "SchemaWatch_pkey" PRIMARY KEY ("projectId","installationId")
);

-- CreateIndex
CREATE INDEX "SchemaWatch_dueTime_idx" ON "SchemaWatch"("dueTime");

-- AddForeignKey
ALTER TABLE "SchemaWatch" ADD CONSTRAINT "SchemaWatch_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId") REFERENCES "Installation"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
