import {
  createSessionToken,
  type SessionToken,
  sessionTokenResource,
} from '../../../domain/tenants/project/session-token.ts';
import { addMutation } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';

const CreateSessionTokenPayload = objectType(
  builder.objectRef<SessionToken>('CreateSessionTokenPayload'),
  sessionTokenResource,
);

addMutation('createSessionToken', createSessionToken, CreateSessionTokenPayload);
