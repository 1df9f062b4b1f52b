/** Where things are in Salesforce's REST API. */
import { objectApiName } from './object-names.ts';

const API = '/services/data/v60.0';

export const paths = {
  userInfo: '/services/oauth2/userinfo',
  query: `${API}/query`,
  composite: `${API}/composite`,
  collection: `${API}/composite/sobjects`,
  records: (object: string) => `${API}/sobjects/${objectApiName(object)}`,
  /** `id` is one that findRecordId gave. */
  record: (object: string, id: string) => `${API}/sobjects/${objectApiName(object)}/${id}`,
  toolingQuery: `${API}/tooling/query`,
  customFields: `${API}/tooling/sobjects/CustomField`,
  /** `id` is one that Salesforce gave. */
  customField: (id: string) => `${API}/tooling/sobjects/CustomField/${encodeURIComponent(id)}`,
  /** What was deleted in a span of time. */
  deleted: (object: string) => `${API}/sobjects/${objectApiName(object)}/deleted`,
  tooling: (kind: string) => `${API}/tooling/sobjects/${kind}`,
  toolingRecord: (kind: string, id: string) => `${API}/tooling/sobjects/${kind}/${id}`,
  description: (object: string) => `${API}/sobjects/${objectApiName(object)}/describe`,
};
