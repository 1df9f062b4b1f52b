-- AlterTable
ALTER TABLE "WriteEntry" ADD COLUMN     "ifEmpty" JSONB;
