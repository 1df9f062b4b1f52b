/** The content of a revision as the JSON of a manifest, without members that are not set. */
import { graphql } from 'react-relay';
import { toManifestForm } from './manifest-form.ts';

export const CONTENT = graphql`
  fragment content_revision on Revision {
    specVersion
    content {
      displayName
      module
      name
      provider
      proxy {
        enabled
        useModule
      }
      read {
        objects {
          backfill {
            defaultPeriod {
              days
              fullHistory
            }
          }
          delivery {
            mode
            pageSize
          }
          destination
          enabled
          mapToDisplayName
          mapToName
          objectName
          optionalFields {
            default
            fieldName
            mapToDisplayName
            mapToName
            prompt
            valueType
          }
          optionalFieldsAuto
          requiredFields {
            default
            fieldName
            mapToDisplayName
            mapToName
            prompt
            valueType
          }
          schedule
        }
      }
      subscribe {
        objects {
          associationChangeEvent {
            enabled
            includeFullRecords
          }
          createEvent {
            enabled
          }
          deleteEvent {
            enabled
          }
          destination
          inheritFieldsAndMapping
          objectName
          otherEvents
          updateEvent {
            enabled
            requiredWatchFields
            watchFieldsAuto
          }
        }
      }
      watchSchema {
        allObjects {
          fieldChanged {
            enabled
          }
          fieldCreated {
            enabled
          }
          fieldDeleted {
            enabled
          }
        }
        destination
        schedule
      }
      write {
        objects {
          inheritMapping
          objectName
          valueDefaults {
            allowAnyFields
          }
        }
      }
    }
  }
`;

/** Formats a content, without members that are null or empty lists. */
export function formatContent(content: unknown): string {
  return JSON.stringify(
    toManifestForm(content),
    (_key, value) => (isUnset(value) ? undefined : value),
    2,
  );
}

function isUnset(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
