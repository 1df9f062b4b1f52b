-- AlterTable
ALTER TABLE "Connection" ADD COLUMN     "isWorkspaceFromToken" BOOLEAN NOT NULL DEFAULT false;
