-- AlterTable
ALTER TABLE "InstalledObject" ADD COLUMN     "backfillOperationId" TEXT;
