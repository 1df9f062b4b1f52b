-- AlterTable
ALTER TABLE "Delivery" ALTER COLUMN "nextAttemptTime" SET DEFAULT statement_timestamp();

-- AlterTable
ALTER TABLE "ReadRun" ADD COLUMN     "leaseExpireTime" TIMESTAMPTZ(3),
ALTER COLUMN "dueTime" SET DEFAULT statement_timestamp();

-- CreateTable
CREATE TABLE "ServerProcess" (
    "id" TEXT COLLATE "C" NOT NULL,
    "lockKey" SERIAL NOT NULL,
    "startTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "missedTime" TIMESTAMPTZ(3),

    CONSTRAINT "ServerProcess_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "ServerProcess_lockKey_key" ON "ServerProcess"("lockKey");
