-- AlterTable
ALTER TABLE "InstalledObject" ADD COLUMN     "triggeredPages" INTEGER NOT NULL DEFAULT 0;
