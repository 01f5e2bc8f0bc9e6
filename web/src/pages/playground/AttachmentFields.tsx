import { FileText, Paperclip, X } from 'lucide-react'
import { useRef } from 'react'
import type { Attachments } from './use-attachments.ts'
import { t } from '../../language/t.ts'

const ACCEPT =
  'image/png,image/jpeg,image/webp,image/gif,text/*,.md,.csv,.json,.xml,.yaml,.yml,.log'

export function AttachButton({ attachments }: { readonly attachments: Attachments }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        accept={ACCEPT}
        aria-label={t('Arquivos para anexar')}
        className="hidden"
        onChange={(event) => {
          void attachments.add([...(event.target.files ?? [])])
          // The same file may be chosen again.
          event.target.value = ''
        }}
      />
      <button
        type="button"
        aria-label={t('Anexar imagem ou arquivo de texto')}
        title={t('Anexar imagem ou arquivo de texto')}
        onClick={() => field.current?.click()}
        className="inline-grid size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-ink md:size-10"
      >
        <Paperclip aria-hidden="true" className="size-4" />
      </button>
    </>
  )
}

export function AttachmentList({
  attachments: { list, remove },
}: {
  readonly attachments: Attachments
}) {
  if (list.length === 0) return null
  return (
    <ul aria-label={t('Anexos da mensagem')} className="flex flex-wrap gap-2">
      {list.map(({ kind, name, content }, place) => (
        <li
          key={place}
          className="flex max-w-full items-center gap-2 rounded-lg border border-line pl-2 text-sm"
        >
          {kind === 'image' ? (
            <img src={content} alt="" className="size-8 rounded object-cover" />
          ) : (
            <FileText aria-hidden="true" className="size-4 shrink-0 text-muted" />
          )}
          <span className="min-w-0 truncate">{name}</span>
          <button
            type="button"
            aria-label={t('Tirar {name}', { name })}
            onClick={() => remove(place)}
            className="inline-grid size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-ink md:size-9"
          >
            <X aria-hidden="true" className="size-4" />
          </button>
        </li>
      ))}
    </ul>
  )
}
