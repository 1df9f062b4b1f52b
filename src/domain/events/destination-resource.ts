/** The fields of a destination, and the inputs that set them. */
import { z } from 'zod';
import type { DestinationStatus, DestinationType } from '../../database/generated/enums.ts';
import type { Row } from '../../database/statements/tables.ts';
import { id } from '../../kernel/ids.ts';
import { checkRules } from '../base/issues.ts';
import { destinationName, projectIdOrName } from '../base/names.ts';
import { computed, createdInProject, enumeration, resource, updateTime } from '../base/resource.ts';
import { listTypeIssues, listUrlMemberIssues } from './destination-rules.ts';
import { maskTarget } from './destination-secret.ts';
import { HEADERS_MAX, targetHeaders } from './target-headers.ts';

type Destination = Row<'Destination'>;

const destinationType = enumeration('DestinationType', 'How a destination delivers its messages.', {
  WEBHOOK: 'The gateway posts messages to its URL, signed as Standard Webhooks specifies.',
  STREAM:
    'The gateway stores messages in the order of their commits. Clients read them from `messages`, or live from the subscription `streamMessages`.',
} satisfies Record<DestinationType, string>);

const destinationStatus = enumeration(
  'DestinationStatus',
  'Whether the gateway sends messages to a destination.',
  {
    ENABLED: 'Messages are sent. A stream is always enabled.',
    DISABLED: 'Messages stay pending until the destination is enabled again.',
  } satisfies Record<DestinationStatus, string>,
);

export const destinationResource = resource(
  'Destination',
  'Receives events through routes, and records from reads. The gateway posts the messages of a webhook to its URL, and stores the messages of a stream.',
  {
    ...createdInProject,
    name: z.string().describe('Unique in the project: letters, digits and dashes.'),
    type: destinationType.describe('How it delivers its messages.'),
    url: computed(
      z
        .string()
        .nullable()
        .describe(
          'The URL that messages are posted to, with `***` in place of each value in its query. {Null} for a stream.',
        ),
      (row: Destination) => maskTarget(row).url,
    ),
    headers: computed(
      z
        .record(z.string(), z.unknown())
        .nullable()
        .describe(
          'The HTTP headers of every message, with `***` in place of each value. {Null} without headers and for a stream.',
        ),
      (row: Destination) => maskTarget(row).headers,
    ),
    status: destinationStatus.describe('Whether messages are sent to it.'),
    disabledReason: z.string().nullable().describe('Why it is disabled. {Null} if it is enabled.'),
    failingSince: z
      .date()
      .nullable()
      .describe(
        'When the first of its latest attempts failed, after which none succeeded. {Null} if the latest attempt succeeded, before the first attempt, and for a stream.',
      ),
    failedAttempts: z
      .int()
      .describe('The number of attempts that failed since `failingSince`. 0 if it is {null}.'),
    updateTime,
  },
);

const destinationId = id.describe('The id of the destination.');
const name = destinationName.describe('1 to 64 letters, digits and dashes; unique in the project.');
const url = z
  .string()
  .describe(
    'For a webhook: the URL that messages are posted to, at most 2048 characters, without user info and fragment. It must use https; http is allowed for an address that ALLOWED_PRIVATE_TARGETS of the server permits.',
  );
const headers = targetHeaders
  .nullish()
  .describe(
    'For a webhook: HTTP headers to send with every message, at most 20 values by name. Null removes them. Values are encrypted and visible only with the scope `credentials:read`. Other callers see `***`, which is rejected as a value.',
  );
const keepHeaders = z
  .array(z.string())
  .max(HEADERS_MAX)
  .optional()
  .describe(
    'Names of current headers that keep their values. All other headers are replaced by `headers`. Default: none. If `url` changes to another origin, only callers with the scope `credentials:read` may keep values.',
  );

export const createDestinationInput = z
  .object({
    projectIdOrName,
    name,
    type: destinationType.describe('How it delivers its messages.'),
    url: url.optional(),
    headers,
  })
  .superRefine(checkRules(listTypeIssues))
  .meta({ id: 'CreateDestinationInput', description: 'The destination to create.' });

export const updateDestinationInput = z
  .object({
    projectIdOrName,
    destinationId,
    name: name.optional(),
    url: url.optional(),
    headers,
    keepHeaders,
    status: destinationStatus
      .describe(
        'For a webhook: ENABLED sends its pending messages immediately, DISABLED keeps them pending.',
      )
      .optional(),
  })
  .superRefine(checkRules(listUrlMemberIssues))
  .meta({
    id: 'UpdateDestinationInput',
    description: 'The new values of a destination. Omitted fields keep their values.',
  });

export const rotateDestinationSecretInput = z.object({ projectIdOrName, destinationId }).meta({
  id: 'RotateDestinationSecretInput',
  description: 'The destination whose secret to rotate.',
});

export const deleteDestinationInput = z
  .object({ projectIdOrName, destinationId })
  .meta({ id: 'DeleteDestinationInput', description: 'The destination to delete.' });
