import { Pencil } from 'lucide-react'
import { useState } from 'react'
import { TextEditor } from './TextEditor.tsx'
import { IconAction } from './IconAction.tsx'

interface Props {
  readonly text: string
  /** Undefined while nothing can be sent. */
  readonly onSendInstead: ((text: string) => void) | undefined
}

export function UserMessage({ text, onSendInstead }: Props) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing && onSendInstead)
    return (
      <TextEditor
        label="Sua mensagem"
        text={text}
        submitLabel="Enviar de novo"
        onCancel={() => setEditing(false)}
        onSubmit={(changed) => {
          setEditing(false)
          onSendInstead(changed)
        }}
      />
    )
  return (
    <div className="flex flex-col items-end gap-1">
      <p className="max-w-[85%] rounded-2xl rounded-br-sm bg-accent-soft px-4 py-2.5 wrap-anywhere whitespace-pre-wrap">
        <span className="sr-only">Você: </span>
        {text}
      </p>
      {onSendInstead && (
        <IconAction icon={Pencil} label="Editar mensagem" onClick={() => setEditing(true)} />
      )}
    </div>
  )
}
