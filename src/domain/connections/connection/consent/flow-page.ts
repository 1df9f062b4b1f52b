/** Reads the content of the gateway's pages during an OAuth flow. */
import type { Services } from '../../../access/call.ts';

export interface OAuthFlowPage {
  appName: string;
  logoUrl: string | null;
  /** A color like `#4f46e5`. Null for the usual one. */
  accentColor: string | null;
  /** A BCP 47 tag. Null for the language of the browser. */
  locale: string | null;
  /** Whether the page shows the gateway's name. A billing plan may remove it. */
  isBranded: boolean;
  /** The URL at which users install the app's package at the provider. Null if the provider requires none. */
  packageInstallUrl: string | null;
  /** The origins of the project's pages. A page of these origins that opened the link receives its result. */
  origins: readonly string[];
}

interface OAuthFlowParents {
  projectId: string;
  /** Null if the flow is unknown. */
  providerAppId: string | null;
}

/** Returns null if the project was deleted. */
export async function findOAuthFlowPage(
  { database: { prisma } }: Pick<Services, 'database'>,
  { projectId, providerAppId }: OAuthFlowParents,
): Promise<OAuthFlowPage | null> {
  const [project, app] = await Promise.all([
    prisma.project.findUnique({
      where: { id: projectId },
      select: {
        appName: true,
        logoUrl: true,
        accentColor: true,
        locale: true,
        brandingRemoval: true,
        allowedOrigins: true,
      },
    }),
    providerAppId &&
      prisma.providerApp.findUnique({
        where: { projectId_id: { projectId, id: providerAppId } },
        select: { metadata: true },
      }),
  ]);
  if (!project) return null;
  const { appName, logoUrl, accentColor, locale, brandingRemoval } = project;
  return {
    appName,
    logoUrl,
    accentColor,
    locale,
    isBranded: !brandingRemoval,
    packageInstallUrl: findPackageInstallUrl(app || null),
    origins: project.allowedOrigins,
  };
}

/** Returns the URL of the app's package. It starts with `https:`, because `createProviderApp` has validated it. */
export function findPackageInstallUrl(app: { metadata: unknown } | null): string | null {
  const { providerParams } = (app?.metadata ?? {}) as {
    providerParams?: { packageInstallURL?: string };
  };
  return providerParams?.packageInstallURL ?? null;
}
