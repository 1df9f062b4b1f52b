-- CreateTable
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

    CONSTRAINT "Plan_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "Plan_expireTime_idx" ON "Plan"("expireTime");

-- AddForeignKey
ALTER TABLE "Plan" ADD CONSTRAINT "Plan_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
