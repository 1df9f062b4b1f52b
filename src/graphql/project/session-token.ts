import {
  createSessionToken,
  type SessionToken,
  sessionTokenResource,
} from '../../domain/project/session-token.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';

const CreateSessionTokenPayload = objectType(
  builder.objectRef<SessionToken>('CreateSessionTokenPayload'),
  sessionTokenResource,
);

builder.mutationField('createSessionToken', (t) =>
  mutationField(t, createSessionToken, CreateSessionTokenPayload),
);
