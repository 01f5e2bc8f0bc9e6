import type { ImageRequest } from '../images/image-request.ts'
import { createTextShield } from './text-shield.ts'
import type { ShieldRequest } from './shielded-request.ts'

export const shieldImageRequest: ShieldRequest<ImageRequest> = (request, options) => {
  const shield = createTextShield(options)
  const body = shield.readFields(request.body)
  return shield.outcome({ ...request, body, prompt: body.prompt as string })
}
