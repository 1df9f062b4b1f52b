/** What the pages of a connect tell a person: who sent them, and what else is to be done. */
import type { Services } from '../call.ts';

export interface ConnectPage {
  /** The name of the app that sent them. */
  appName: string;
  /** Whether the page says whose it is: a plan may take that away. */
  isBranded: boolean;
  /** Where the package of the app is installed at the provider, for providers that need that. */
  packageInstallUrl: string | null;
  /** Origins of the project, whose windows are told the end of a connect that they opened. */
  allowedOrigins: readonly string[];
}

/** Null if the project is gone. */
export async function findConnectPage(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, providerAppId }: { projectId: string; providerAppId: string },
): Promise<ConnectPage | null> {
  const [project, app] = await Promise.all([
    prisma.project.findUnique({
      where: { id: projectId },
      select: { appName: true, brandingRemoval: true, allowedOrigins: true },
    }),
    prisma.providerApp.findUnique({
      where: { projectId_id: { projectId, id: providerAppId } },
      select: { metadata: true },
    }),
  ]);
  if (!project) return null;
  const { appName, brandingRemoval, allowedOrigins } = project;
  const packageInstallUrl = packageInstallUrlOf(app);
  return { appName, isBranded: !brandingRemoval, packageInstallUrl, allowedOrigins };
}

/** Only what createProviderApp accepts is stored: an https address. */
export function packageInstallUrlOf(app: { metadata: unknown } | null): string | null {
  const { providerParams } = (app?.metadata ?? {}) as {
    providerParams?: { packageInstallURL?: string };
  };
  return providerParams?.packageInstallURL ?? null;
}
