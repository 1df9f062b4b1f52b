/** The choices for the events of an object, in the reference API's form. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import type { SubscribeConfigInput } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { SubscribeConfig } from '../../../../domain/integrations/installation/choice/subscribe-choice.ts';
import { list, members, optional, same, word } from '../../../endpoint/form.ts';

type UpdateChoice = NonNullable<SubscribeConfig['updateEvent']>;

const enabled = word(
  z.enum(['always', 'never']).describe('`never`: there are no such events for the installation.'),
);
const event = members<Pick<UpdateChoice, 'enabled'>>({ enabled });
const updateEvent = members<UpdateChoice>({
  enabled,
  watchFieldsAuto: word(z.enum(['all']).optional().describe('`all`: every update is an event.')),
  requiredWatchFields: optional(
    list(same(boundedName)),
    "The fields whose changes are events. Default: the integration's setting.",
  ),
});

export const subscribeForm = members<Omit<SubscribeConfigInput, 'objectName'>>({
  destination: boundedName
    .describe(
      "The name of a destination of the project that replaces the integration's for the events.",
    )
    .optional(),
  inheritFieldsAndMapping: [
    'inheritFieldsAndMappings',
    z
      .boolean()
      .describe(
        "Whether events have the fields and names of the read object. Default: the integration's setting.",
      )
      .optional(),
  ],
  createEvent: optional(event, "Events of new records. Default: the integration's setting."),
  updateEvent: optional(
    updateEvent,
    "Events of changed records. Default: the integration's setting.",
  ),
  deleteEvent: optional(event, "Events of deleted records. Default: the integration's setting."),
  otherEvents: z
    .array(boundedName)
    .optional()
    .describe("The integration's other events that the installation receives. Default: all."),
});

/** Accepted and ignored: events cost no quota, and the gateway subscribes to each object automatically. */
export const ignoredForm = members<{ providerOptions: unknown }>({
  providerOptions: z
    .strictObject({
      quotaOptimization: z
        .strictObject({
          enabled: z
            .literal(false, 'must be false: the gateway has no such subscriptions.')
            .describe('Always false: the gateway has no such subscriptions.'),
        })
        .optional()
        .describe('Salesforce only.'),
    })
    .optional()
    .describe('Options for specific providers.'),
});
