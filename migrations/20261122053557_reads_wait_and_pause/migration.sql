-- AlterTable
ALTER TABLE "ReadRun" ADD COLUMN     "paused" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "waiting" TEXT;
