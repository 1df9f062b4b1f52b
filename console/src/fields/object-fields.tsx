/** Chooses the fields of an object that are read: required ones, and optional ones. */
import { graphql, useFragment } from 'react-relay';
import type { objectFields_object$key } from '../../__generated__/objectFields_object.graphql.ts';
import { CheckBox, Choice } from '../parts/form.tsx';
import { usePartMessages } from '../parts/part-messages.ts';

export const OBJECT = graphql`
  fragment objectFields_object on ReadObjectSpec {
    objectName
    mapToName
    mapToDisplayName
    enabled
    optionalFieldsAuto
    requiredFields {
      fieldName
      mapToName
      mapToDisplayName
    }
    optionalFields {
      fieldName
      mapToName
      mapToDisplayName
    }
  }
`;

export interface KnownField {
  fieldName: string;
  displayName: string;
}

/** The current choice of the installation; empty for a new one. */
interface ChosenFields {
  selectedFields: readonly string[];
  fieldMappings: readonly { fieldName?: string | null; mapToName?: string | null }[];
}

interface ObjectFieldsProps {
  object: objectFields_object$key;
  /** The account's own fields; empty if its provider can't describe them. */
  accountFields: readonly KnownField[];
  chosen: ChosenFields | null;
}

interface Mapping {
  fieldName?: string | null;
  mapToName?: string | null;
  mapToDisplayName?: string | null;
}

export function ObjectFields({ object, accountFields, chosen }: ObjectFieldsProps) {
  const spec = useFragment(OBJECT, object);
  const messages = usePartMessages();
  const label = ({ fieldName, mapToName, mapToDisplayName }: Mapping) =>
    mapToDisplayName ??
    accountFields.find((candidate) => candidate.fieldName === fieldName)?.displayName ??
    mapToName ??
    fieldName ??
    '';
  const required = spec.requiredFields.filter(({ fieldName }) => fieldName);
  const manifestFields = [...spec.requiredFields, ...spec.optionalFields];
  const open = manifestFields.filter(({ fieldName }) => !fieldName);
  const manifestFieldNames = new Set(manifestFields.map(({ fieldName }) => fieldName));
  const optional = [
    ...spec.optionalFields.filter(({ fieldName }) => fieldName),
    ...(spec.optionalFieldsAuto === 'ALL'
      ? accountFields.filter(({ fieldName }) => !manifestFieldNames.has(fieldName))
      : []),
  ] as Mapping[];
  const mapped = (name: string | null | undefined) =>
    chosen?.fieldMappings.find(({ mapToName }) => mapToName === name)?.fieldName ?? undefined;
  const options = accountFields.map(({ fieldName, displayName }) => ({
    id: fieldName,
    label: displayName,
  }));
  return (
    <fieldset className="fields">
      <legend className="strong">
        {spec.mapToDisplayName ?? spec.mapToName ?? spec.objectName}
      </legend>
      {required.length > 0 && (
        <p className="quiet">{messages.alwaysRead(required.map(label).join(', '))}</p>
      )}
      {open.map((field) => (
        <Choice
          key={field.mapToName}
          name={getMappingName(spec.objectName, field.mapToName ?? '')}
          label={messages.yourField(label(field))}
          options={options}
          isRequired={spec.requiredFields.includes(field as never)}
          {...(mapped(field.mapToName) && { defaultValue: mapped(field.mapToName) as string })}
        />
      ))}
      {optional.length > 0 && <p className="strong">{messages.optional}</p>}
      <div className="checks">
        {optional.map((field) => (
          <CheckBox
            key={field.fieldName}
            name={getSelectionName(spec.objectName, field.fieldName ?? '')}
            label={label(field)}
            isCheckedByDefault={
              chosen
                ? chosen.selectedFields.includes(field.fieldName ?? '')
                : spec.optionalFieldsAuto !== 'ALL'
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

const getSelectionName = (objectName: string, fieldName: string) =>
  `field/${objectName}/${fieldName}`;
const getMappingName = (objectName: string, name: string) => `map/${objectName}/${name}`;

/** The config of an object's fields, as the form of ObjectFields represents it. */
export function readChoice(values: Record<string, FormDataEntryValue>, objectName: string) {
  const valuesWithPrefix = (prefix: string) =>
    Object.entries(values).flatMap(([name, value]) => {
      const start = `${prefix}/${objectName}/`;
      return name.startsWith(start) && value !== '' ? [[name.slice(start.length), value]] : [];
    });
  return {
    objectName,
    selectedFields: valuesWithPrefix('field').map(([fieldName]) => String(fieldName)),
    fieldMappings: valuesWithPrefix('map').map(([mapToName, fieldName]) => ({
      mapToName: String(mapToName),
      fieldName: String(fieldName),
    })),
  };
}
