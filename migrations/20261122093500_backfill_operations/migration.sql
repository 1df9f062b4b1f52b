-- AlterTable
ALTER TABLE "InstalledObject" ADD COLUMN     "backfillOperationId" TEXT COLLATE "C";
