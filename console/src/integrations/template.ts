/** Templates that create the content of a new integration from a purpose, objects and a schedule. */
export type Purpose = 'READ' | 'READ_WRITE' | 'FOLLOW';

interface Template {
  id: Purpose;
  label: string;
  /** The capability that the provider must have, in addition to reading. */
  needs: string;
}

const TEMPLATES: readonly Template[] = [
  { id: 'READ', label: 'Read records on a schedule', needs: 'READ' },
  { id: 'READ_WRITE', label: 'Read records on a schedule, and write records', needs: 'WRITE' },
  {
    id: 'FOLLOW',
    label: 'Read records on a schedule, and receive changes immediately',
    needs: 'SUBSCRIBE',
  },
];

export function listTemplates(supports: readonly string[]): readonly Template[] {
  return TEMPLATES.filter(({ needs }) => supports.includes(needs));
}

/** Cron expressions in UTC. With an empty one, objects are read only by `triggerRead`. */
export const SCHEDULES = [
  { id: '*/10 * * * *', label: 'Every 10 minutes' },
  { id: '0 * * * *', label: 'Every hour' },
  { id: '0 3 * * *', label: 'Every day at 03:00 UTC' },
  { id: '', label: 'Only when triggered' },
];

export interface Draft {
  name: string;
  provider: string;
  purpose: Purpose;
  objects: readonly string[];
  schedule: string;
  /** The name of the destination that receives the records. */
  destination: string;
}

export function createContent({ name, provider, purpose, objects, schedule, destination }: Draft) {
  return {
    name,
    provider,
    read: {
      objects: objects.map((objectName) => ({
        objectName,
        destination,
        ...(schedule && { schedule }),
        optionalFieldsAuto: 'ALL',
      })),
    },
    ...(purpose === 'READ_WRITE' && {
      write: { objects: objects.map((objectName) => ({ objectName, inheritMapping: true })) },
    }),
    ...(purpose === 'FOLLOW' && {
      subscribe: {
        objects: objects.map((objectName) => ({
          objectName,
          destination,
          inheritFieldsAndMapping: true,
          createEvent: { enabled: 'ALWAYS' },
          updateEvent: { enabled: 'ALWAYS', watchFieldsAuto: 'ALL' },
          deleteEvent: { enabled: 'ALWAYS' },
        })),
      },
    }),
  };
}
