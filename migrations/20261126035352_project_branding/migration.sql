-- AlterTable
ALTER TABLE "Project" ADD COLUMN     "accentColor" TEXT,
ADD COLUMN     "locale" TEXT,
ADD COLUMN     "logoUrl" TEXT;
