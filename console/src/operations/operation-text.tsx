/**
 * Shows a result or a log line of an operation. The gateway begins it with the object in brackets, like
 * `[contacts]`.
 */

interface OperationTextProps {
  text: string | null | undefined;
  /** The objects that the page already names next to the text. */
  namedObjects: readonly string[];
}

/** Shows the object as a label. Omits the label if the page names only this object. */
export function OperationText({ text, namedObjects }: OperationTextProps) {
  const [, objectName, sentence] = /^\[([^\]]+)\] (.*)$/s.exec(text ?? '') ?? [];
  if (!objectName || !sentence) return text;
  if (namedObjects.length === 1 && namedObjects[0] === objectName) return sentence;
  return (
    <>
      <span className="tag">{objectName}</span> {sentence}
    </>
  );
}
