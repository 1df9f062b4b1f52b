-- AlterEnum
ALTER TYPE "NotificationEventType" ADD VALUE 'SETUP_FAILED';

-- CreateTable
CREATE TABLE "SetupFailure" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "provider" TEXT NOT NULL,
    "error" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "firstFailureTime" TIMESTAMPTZ(3) NOT NULL,
    "lastFailureTime" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SetupFailure_pkey" PRIMARY KEY ("projectId","provider")
);

-- AddForeignKey
ALTER TABLE "SetupFailure" ADD CONSTRAINT "SetupFailure_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
