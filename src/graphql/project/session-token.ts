import { createSessionToken, type SessionToken } from '../../domain/project/session-token.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { builder } from '../schema/schema-builder.ts';

export const SessionPermission = enumType(
  'SessionPermission',
  'What a token may let an end user do, besides reading.',
  {
    CONNECT: 'Connect accounts for itself, and consent again.',
    INSTALL: 'Make and change installations of its own group.',
    READ: 'Trigger, pause and resume reads of its own group.',
    WRITE_RECORDS: "Write records to its own group's accounts.",
  },
);

const CreateSessionTokenPayload = builder
  .objectRef<SessionToken>('CreateSessionTokenPayload')
  .implement({
    description:
      'The answer of createSessionToken: the token of one end user. Only this answer shows it.',
    fields: (t) => ({
      token: t.exposeString('token', {
        description:
          'The token: pages send it as `Authorization: Bearer`. Keep it out of addresses.',
      }),
      expireTime: t.expose('expireTime', {
        type: 'DateTime',
        description: 'The token is refused from this time on.',
      }),
      connectUrl: t.exposeString('connectUrl', {
        description: 'The hosted page on which this user connects and chooses.',
      }),
    }),
  });

builder.mutationField('createSessionToken', (t) =>
  mutationField(t, createSessionToken, CreateSessionTokenPayload),
);
