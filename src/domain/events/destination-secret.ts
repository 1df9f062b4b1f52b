/** Reads the secrets of destinations, and masks them for callers without the scope `credentials:read`. */

import type { Row } from '../../database/statements/tables.ts';
import { hasSecret, openSigningSecrets, SEALED_SECRETS } from '../../deliveries/signing-secret.ts';
import {
  maskHeaders,
  maskUrl,
  openTarget,
  SEALED_TARGET,
  type TargetHeaders,
} from '../../deliveries/target-secrets.ts';
import type { CoreServices } from '../access/call.ts';
import { read } from '../access/declared-read.ts';

export const readSigningSecret = read(
  'credentials:read',
  'The secret that signs every message (Standard Webhooks, whsec_...). Null for a stream.',
  async (
    { database, vault, now }: CoreServices,
    destinations: readonly Row<'Destination'>[],
  ): Promise<(string | null)[]> => {
    const where = createDestinationFilter(destinations);
    const select = SEALED_SECRETS;
    const rows = await database.prisma.destination.findMany({ where, select });
    const secrets = new Map(
      rows
        .filter(hasSecret)
        .map((destination) => [destination.id, openSigningSecrets(vault, destination, now())[0]]),
    );
    return destinations.map(({ id }) => secrets.get(id) ?? null);
  },
);

/** Returns the URL and the headers of a destination with all secret values masked. */
export function maskTarget({
  url,
  maskedHeaders,
}: Pick<Row<'Destination'>, 'url' | 'maskedHeaders'>) {
  // Masked again, so that a response never contains a value that another program stored in plain text.
  return { url: url === null ? null : maskUrl(url), headers: maskHeaders(maskedHeaders) };
}

export const readTargetValues = read(
  'credentials:read',
  'The URL and the headers of a destination, with the values that are masked for other callers.',
  async (
    { database, vault }: CoreServices,
    destinations: readonly Row<'Destination'>[],
  ): Promise<{ url: string | null; headers: TargetHeaders | null }[]> => {
    const where = createDestinationFilter(destinations);
    const select = SEALED_TARGET;
    const rows = await database.prisma.destination.findMany({ where, select });
    const targets = new Map(rows.map((row) => [row.id, openTarget(vault, row)]));
    return destinations.map(({ id }) => targets.get(id) ?? { url: null, headers: null });
  },
);

function createDestinationFilter(destinations: readonly Row<'Destination'>[]) {
  return {
    id: { in: destinations.map(({ id }) => id) },
    projectId: { in: [...new Set(destinations.map(({ projectId }) => projectId))] },
  };
}
