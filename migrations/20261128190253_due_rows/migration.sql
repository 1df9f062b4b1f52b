-- AlterTable
ALTER TABLE "Erasure" ADD COLUMN     "dueTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "leaseExpireTime" TIMESTAMPTZ(3),
ADD COLUMN     "leaseToken" TEXT;

-- AlterTable
ALTER TABLE "Proposal" ADD COLUMN     "leaseExpireTime" TIMESTAMPTZ(3),
ADD COLUMN     "leaseToken" TEXT;

-- AlterTable
ALTER TABLE "ReadRun" ADD COLUMN     "traceparent" TEXT;

-- AlterTable
ALTER TABLE "WriteTask" ADD COLUMN     "traceparent" TEXT;

-- CreateIndex
CREATE INDEX "Erasure_dueTime_idx" ON "Erasure"("dueTime");
