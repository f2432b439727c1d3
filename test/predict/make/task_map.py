"""Principal components of seeded vectors by scikit-learn, for test/predict/task-map.test.ts.

python test/predict/make/task_map.py > test/fixtures/predict/task-map.json
"""

import json

import numpy
import sklearn
from sklearn.decomposition import PCA

random = numpy.random.default_rng(7)
mixing = random.normal(size=(3, 6))
vectors = random.normal(size=(24, 3)) * [3, 1.7, 0.6] @ mixing + random.normal(size=(24, 6)) * 0.05
pca = PCA(n_components=2, svd_solver="full")
places = pca.fit_transform(vectors)
# The sign that makes the largest part of a component positive.
for at, component in enumerate(pca.components_):
    if component[numpy.argmax(numpy.abs(component))] < 0:
        places[:, at] *= -1
print(
    json.dumps(
        {
            "scikit-learn": sklearn.__version__,
            "vectors": vectors.round(6).tolist(),
            "explained": pca.explained_variance_ratio_.round(9).tolist(),
            "places": places.round(6).tolist(),
        }
    )
)
