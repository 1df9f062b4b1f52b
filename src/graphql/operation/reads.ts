import { pauseReads, resumeReads } from '../../domain/operation/read/pause.ts';
import { triggerRead } from '../../domain/operation/read/trigger.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Operation } from '../schema/types.ts';

builder.mutationFields((t) => ({
  triggerRead: mutationField(t, triggerRead, payload('triggerRead', 'operation', Operation)),
  pauseReads: mutationField(t, pauseReads, payload('pauseReads', 'installation', Installation)),
  resumeReads: mutationField(t, resumeReads, payload('resumeReads', 'installation', Installation)),
}));
