import {
  listConnectionRequests,
  listOperationRequests,
  recordedRequestResource,
} from '../../../domain/connections/diagnosis/recorded-request.ts';
import { addList } from '../../schema/lists.ts';
import { objectType } from '../../schema/object-type.ts';
import { ConnectedAccount, Operation, RecordedRequest } from '../../schema/types.ts';

objectType(RecordedRequest, recordedRequestResource);

addList(Operation, 'requests', RecordedRequest, listOperationRequests);

addList(ConnectedAccount, 'requests', RecordedRequest, listConnectionRequests);
