-- AlterTable
ALTER TABLE "InstallationConfig" ADD COLUMN     "createdBy" TEXT;
