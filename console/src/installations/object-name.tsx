/** An object by the provider's name, followed by the name that the integration maps it to. */
interface ObjectNameProps {
  objectName: string;
  mappedObjectName: string | null | undefined;
}

export function ObjectName({ objectName, mappedObjectName }: ObjectNameProps) {
  return (
    <>
      <span className="strong">{objectName}</span>
      {mappedObjectName && <span className="quiet"> as {mappedObjectName}</span>}
    </>
  );
}
