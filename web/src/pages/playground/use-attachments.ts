import { useState } from 'react'
import type { Attachment } from './conversation.ts'
import { ATTACHMENTS_MAX, readAttachment } from './read-attachment.ts'
import { t } from '../../language/t.ts'

export interface Attachments {
  readonly list: readonly Attachment[]
  /** Why the last files were refused. */
  readonly fault: string | undefined
  readonly isReading: boolean
  readonly add: (files: Iterable<File>) => Promise<void>
  readonly remove: (place: number) => void
  readonly clear: () => void
}

/** The files of the message being written. */
export function useAttachments(): Attachments {
  const [list, setList] = useState<readonly Attachment[]>([])
  const [fault, setFault] = useState<string>()
  const [reading, setReading] = useState(0)
  return {
    list,
    fault,
    isReading: reading > 0,
    async add(files) {
      setReading((count) => count + 1)
      const read = await Promise.all(Array.from(files, readAttachment))
      setReading((count) => count - 1)
      const sound = read.filter((each) => 'content' in each)
      const refused = read.find((each) => 'fault' in each)
      const tooMany =
        list.length + sound.length > ATTACHMENTS_MAX
          ? t('Até {attachmentsMax} anexos por mensagem.', { attachmentsMax: ATTACHMENTS_MAX })
          : undefined
      setFault(refused?.fault ?? tooMany)
      setList((before) => [...before, ...sound].slice(0, ATTACHMENTS_MAX))
    },
    remove(place) {
      setFault(undefined)
      setList((before) => before.filter((_, index) => index !== place))
    },
    clear() {
      setFault(undefined)
      setList([])
    },
  }
}
