-- CreateEnum
CREATE TYPE "ProposalStatus" AS ENUM ('PENDING', 'APPROVED', 'REJECTED', 'COMMITTING', 'COMMITTED', 'EXPIRED', 'STALE');

-- AlterEnum
ALTER TYPE "NotificationEventType" ADD VALUE 'PROPOSAL_CREATED';
ALTER TYPE "NotificationEventType" ADD VALUE 'PROPOSAL_APPROVED';
ALTER TYPE "NotificationEventType" ADD VALUE 'PROPOSAL_REJECTED';
ALTER TYPE "NotificationEventType" ADD VALUE 'PROPOSAL_COMMITTED';
ALTER TYPE "NotificationEventType" ADD VALUE 'PROPOSAL_EXPIRED';
ALTER TYPE "NotificationEventType" ADD VALUE 'PROPOSAL_STALE';

-- AlterTable
ALTER TABLE "WriteEntry" ADD COLUMN     "expected" JSONB;

-- CreateTable
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

    CONSTRAINT "AgentSession_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateTable
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

    CONSTRAINT "Proposal_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE INDEX "AgentSession_projectId_groupId_id_idx" ON "AgentSession"("projectId", "groupId", "id");

-- CreateIndex
CREATE INDEX "AgentSession_consumerId_idx" ON "AgentSession"("consumerId");

-- CreateIndex
CREATE INDEX "AgentSession_expireTime_idx" ON "AgentSession"("expireTime");

-- CreateIndex
CREATE INDEX "Proposal_projectId_status_id_idx" ON "Proposal"("projectId", "status", "id");

-- CreateIndex
CREATE INDEX "Proposal_projectId_groupId_status_id_idx" ON "Proposal"("projectId", "groupId", "status", "id");

-- CreateIndex
CREATE INDEX "Proposal_projectId_agentSessionId_status_id_idx" ON "Proposal"("projectId", "agentSessionId", "status", "id") WHERE ("agentSessionId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Proposal_consumerId_idx" ON "Proposal"("consumerId") WHERE ("consumerId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Proposal_dueTime_idx" ON "Proposal"("dueTime") WHERE ("dueTime" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Proposal_createTime_idx" ON "Proposal"("createTime");

-- AddForeignKey
ALTER TABLE "AgentSession" ADD CONSTRAINT "AgentSession_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "AgentSession" ADD CONSTRAINT "AgentSession_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "AgentSession" ADD CONSTRAINT "AgentSession_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Proposal" ADD CONSTRAINT "Proposal_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Proposal" ADD CONSTRAINT "Proposal_projectId_groupId_fkey" FOREIGN KEY ("projectId", "groupId") REFERENCES "Group"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Proposal" ADD CONSTRAINT "Proposal_projectId_consumerId_fkey" FOREIGN KEY ("projectId", "consumerId") REFERENCES "Consumer"("projectId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
