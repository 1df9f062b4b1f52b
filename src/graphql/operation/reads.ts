import { pauseReads, resumeReads } from '../../domain/operation/read/pause.ts';
import { triggerRead } from '../../domain/operation/read/trigger.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { answer } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Operation } from '../schema/types.ts';

builder.mutationFields((t) => ({
  triggerRead: mutationField(t, triggerRead, {
    type: answer('TriggerReadPayload', 'operation', Operation, 'The operation that reads.'),
    description: "Reads an object now, once, beside its schedule. Doesn't wait for the end.",
  }),
  pauseReads: mutationField(t, pauseReads, {
    type: answer('PauseReadsPayload', 'installation', Installation, 'As it is now.'),
    description: 'Pauses scheduled reads of an installation. Triggered reads stay possible.',
  }),
  resumeReads: mutationField(t, resumeReads, {
    type: answer('ResumeReadsPayload', 'installation', Installation, 'As it is now.'),
    description: 'Goes on with scheduled reads that were paused.',
  }),
}));
