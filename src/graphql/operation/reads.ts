import { pauseReads, resumeReads } from '../../domain/operation/read/pause.ts';
import { triggerRead } from '../../domain/operation/read/trigger.ts';
import { addMutations } from '../schema/mutations.ts';
import { Installation, Operation } from '../schema/types.ts';

addMutations('operation', Operation, { triggerRead });
addMutations('installation', Installation, { pauseReads, resumeReads });
