/** The secrets of destinations, for callers who may see them. */
import type { Row } from '../../database/rows.ts';
import { hasSecret, openSigningSecrets, SEALED_SECRETS } from '../../deliveries/signing-secret.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';

/** The current secrets of destinations that the viewer has been given; null for streams. */
export const signingSecretOf = read(
  'credentials:read',
  async (
    { database, vault, now }: Call,
    destinations: readonly Row<'Destination'>[],
  ): Promise<(string | null)[]> => {
    const sealed = await database.prisma.destination.findMany({
      where: {
        id: { in: destinations.map(({ id }) => id) },
        projectId: { in: [...new Set(destinations.map(({ projectId }) => projectId))] },
      },
      select: SEALED_SECRETS,
    });
    const opened = new Map(
      sealed
        .filter(hasSecret)
        .map((destination) => [destination.id, openSigningSecrets(vault, destination, now())[0]]),
    );
    return destinations.map(({ id }) => opened.get(id) ?? null);
  },
);
