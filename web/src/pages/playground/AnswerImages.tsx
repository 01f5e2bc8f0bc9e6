import { Download } from 'lucide-react'
import { buttonClass } from '../../components/button-class.ts'
import { t } from '../../language/t.ts'

interface Props {
  /** Data URLs. */
  readonly images: readonly string[]
  readonly modelName: string
}

export function AnswerImages({ images, modelName }: Props) {
  return (
    <ul className="grid gap-4">
      {images.map((image, place) => (
        <li key={place} className="grid justify-items-start gap-2">
          <img
            src={image}
            alt={t('Imagem {place} de {modelName}', { place: place + 1, modelName })}
            // Its place is reserved before it is decoded.
            className="aspect-square w-full max-w-md rounded-lg border border-line bg-sunken object-contain"
          />
          <a
            href={image}
            download={`imagem-${place + 1}.${extensionOf(image)}`}
            className={buttonClass('quiet')}
          >
            <Download aria-hidden="true" className="size-4" />
            {t('Baixar')}
          </a>
        </li>
      ))}
    </ul>
  )
}

function extensionOf(image: string): string {
  return /^data:image\/(\w+);/.exec(image)?.[1] ?? 'png'
}
